// Contract: section 6.
import { HOLDER_LIMITS } from '../../domain/plan.ts';
import type { Check } from '../check.ts';
import { CheckSkipped, type Probe } from '../probe.ts';
import { readRateHeaders } from '../windows.ts';

const READ = ['pets:read'] as const;

const PATH = '/pets?limit=1';

const UNSHOWN = 'the rate headers do not show it';

/**
 * What a plan's minute and day lose by one request with `between` before it; the least of a few tries, because others may use
 * the account. Undefined if the headers do not show it.
 */
async function taken(probe: Probe, between: () => Promise<unknown>): Promise<number | undefined> {
  let least: number | undefined;
  for (let tries = 0; tries < 3 && least !== 1; tries++) {
    const before = readRateHeaders((await probe.get(PATH)).headers);
    await between();
    const after = readRateHeaders((await probe.get(PATH)).headers);
    if (before === undefined || after === undefined) return undefined;
    const difference = before.day.remaining - after.day.remaining;
    if (difference > 0) least = Math.min(least ?? difference, difference);
  }
  return least;
}

/** Expects that a request takes as much with `between` before it as without. */
async function expectFree(probe: Probe, between: () => Promise<unknown>): Promise<void> {
  const alone = await taken(probe, async () => undefined);
  const least = await taken(probe, between);
  if (alone === undefined || least === undefined) throw new CheckSkipped(UNSHOWN);
  const answer = await probe.get(PATH);
  probe.expect(answer, least <= alone, `${alone} fewer after it, as without it`, `each time ${least} fewer`);
}

export const LIMITS: readonly Check[] = [
  {
    section: '6.2',
    promise: 'a request takes one from the windows, and not more',
    scopes: READ,
    run: async (probe) => {
      const least = await taken(probe, async () => undefined);
      if (least === undefined) throw new CheckSkipped(UNSHOWN);
      const answer = await probe.get(PATH);
      probe.expect(answer, least === 1, 'one fewer of the day', `each time at least ${least} fewer`);
    },
  },
  {
    section: '3.7',
    promise: 'OPTIONS is not metered',
    scopes: READ,
    run: (probe) => expectFree(probe, () => probe.send({ method: 'OPTIONS', path: '/pets' })),
  },
  {
    section: '6.10',
    promise: 'what a holder asks takes nothing from the plan',
    scopes: READ,
    run: (probe) => expectFree(probe, () => probe.get('/account')),
  },
  {
    section: '6.10',
    promise: `the holder has windows of ${HOLDER_LIMITS.perMinute} a minute and ${HOLDER_LIMITS.perDay} a day`,
    run: async (probe) => {
      const answer = await probe.get('/account');
      const rate = readRateHeaders(answer.headers);
      if (rate === undefined) throw new CheckSkipped(UNSHOWN);
      const { minute, day } = rate;
      probe.expect(
        answer,
        minute.limit === HOLDER_LIMITS.perMinute && day.limit === HOLDER_LIMITS.perDay,
        `${HOLDER_LIMITS.perMinute} and ${HOLDER_LIMITS.perDay}`,
        `${minute.limit} and ${day.limit}`,
      );
    },
  },
];
