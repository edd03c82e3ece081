// Contract: section 6.
import { HOLDER_LIMITS } from '../../domain/plan.ts';
import type { Check } from '../check.ts';
import { CheckSkipped, type Probe } from '../probe.ts';
import { readRateHeaders } from '../windows.ts';

const READ = ['pets:read'] as const;

const PATH = '/pets?limit=1';

/** The account may have other clients. */
const MOST_TRIES = 8;

const UNSHOWN = 'the rate headers do not show it';

interface Taken {
  /** The least of a few tries. */
  readonly least: number;
  /** Whether it differed, because the account has other clients. */
  readonly isShared: boolean;
}

/** What the day of the plan loses by one request with `between` before it. @throws CheckSkipped if the headers do not show it */
async function taken(probe: Probe, between: () => Promise<unknown>): Promise<Taken> {
  const seen = new Set<number>();
  for (let tries = 0; tries < MOST_TRIES && !seen.has(1); tries++) {
    const before = readRateHeaders((await probe.get(PATH)).headers);
    await between();
    const after = readRateHeaders((await probe.get(PATH)).headers);
    if (before === undefined || after === undefined) throw new CheckSkipped(UNSHOWN);
    // At midnight, a new day begins.
    const difference = before.day.remaining - after.day.remaining;
    if (difference > 0) seen.add(difference);
  }
  if (seen.size === 0) throw new CheckSkipped(UNSHOWN);
  return { least: Math.min(...seen), isShared: seen.size > 1 };
}

/** Expects that a request takes no more than `most` with `between` before it. */
async function expectTaken(probe: Probe, most: number, between: () => Promise<unknown>): Promise<void> {
  const { least, isShared } = await taken(probe, between);
  if (least > most && isShared) throw new CheckSkipped('other clients use the account all the time');
  const answer = await probe.get(PATH);
  probe.expect(answer, least <= most, `${most} fewer of the day`, `each time ${least} fewer`);
}

/** Expects that `between` takes nothing, whatever a request takes. */
async function expectFree(probe: Probe, between: () => Promise<unknown>): Promise<void> {
  const { least } = await taken(probe, async () => undefined);
  await expectTaken(probe, least, between);
}

export const LIMITS: readonly Check[] = [
  {
    section: '6.2',
    promise: 'a request takes one from the windows, and not more',
    scopes: READ,
    run: (probe) => expectTaken(probe, 1, async () => undefined),
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
