// Contract: section 6.
import { HOLDER_LIMITS } from '../../domain/plan.ts';
import type { Check } from '../check.ts';
import { CheckSkipped, type Probe } from '../probe.ts';
import { readRateHeaders } from '../windows.ts';

const READ = ['pets:read'] as const;

const PATH = '/pets?limit=1';

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

async function expectOne(probe: Probe, between: () => Promise<unknown>, expected: string): Promise<void> {
  const least = await taken(probe, between);
  if (least === undefined) throw new CheckSkipped('the rate headers do not show it');
  const answer = await probe.get(PATH);
  probe.expect(answer, least === 1, expected, `each time at least ${least} requests fewer of the day`);
}

export const LIMITS: readonly Check[] = [
  {
    section: '6.2',
    promise: 'a request takes one from the windows, and not more',
    scopes: READ,
    run: (probe) => expectOne(probe, async () => undefined, 'one request fewer'),
  },
  {
    section: '3.7',
    promise: 'OPTIONS is not metered',
    scopes: READ,
    run: (probe) =>
      expectOne(
        probe,
        async () => {
          await probe.send({ method: 'OPTIONS', path: '/pets' });
        },
        'one request fewer, with an OPTIONS between two',
      ),
  },
  {
    section: '6.10',
    promise: 'what a holder asks takes nothing from the plan',
    scopes: READ,
    run: (probe) =>
      expectOne(probe, () => probe.get('/account'), 'one request fewer, with a GET /v1/account between two'),
  },
  {
    section: '6.10',
    promise: `the holder has windows of ${HOLDER_LIMITS.perMinute} a minute and ${HOLDER_LIMITS.perDay} a day`,
    run: async (probe) => {
      const answer = await probe.get('/account');
      const rate = readRateHeaders(answer.headers);
      if (rate === undefined) throw new CheckSkipped('the rate headers do not show it');
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
