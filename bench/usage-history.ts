import { argv, exit } from 'node:process';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { inventYear, YEAR } from './usage-year.ts';
import { readConfig } from '../src/app/config.ts';
import { DAY, steadyClock } from '../src/domain/clock.ts';
import type { UsageInterval } from '../src/domain/usage.ts';
import { KEPT, type UsageBy } from '../src/resources/usage/rules.ts';
import { openStore } from '../src/app/store.ts';

/*
 * Measures charts over a year of usage of 1,000 accounts: `npm exec -- node bench/usage-history.ts DATABASE_URL`. The database must
 * be empty, or filled by an earlier run.
 */

const TRIES = 7;

const [, , databaseUrl] = argv;
if (databaseUrl === undefined) {
  console.error('usage: node bench/usage-history.ts DATABASE_URL');
  exit(2);
}

const clock = steadyClock(Date.now, () => performance.now());
await using stack = new AsyncDisposableStack();
const store = await openStore({
  ...readConfig({}),
  databaseUrl,
  clock,
  pool: { connections: 4, connectTimeout: 10_000, statementTimeout: 0 },
  onLost: () => undefined,
});
stack.defer(() => store.close());
const now = clock().unix;
if ((await store.accounts.listAll()).length === 0) {
  await inventYear(store, now);
  // With SQLite, the reads of one turn see the same instant.
  await letOthersRun();
}

const { usageHistory } = store;
const RANGES: readonly (readonly [string, UsageInterval, number])[] = [
  ['24 hours by the hour', 'hour', DAY],
  ['31 days by the hour', 'hour', 31 * DAY],
  ['90 days', 'day', 90 * DAY],
  ['a year', 'day', YEAR * DAY],
];
const BY: readonly UsageBy[] = ['interval', 'operation', 'key', 'account'];

for (const accountId of [undefined, 1, 950])
  for (const [name, interval, length] of RANGES)
    for (const by of BY) {
      const query = { interval, from: now - length, to: now, accountId, by };
      const whose = accountId === undefined ? 'all accounts' : `account ${accountId}`;
      await report(`${whose}, ${name}, by ${by}`, () => usageHistory.sums(query));
    }
for (const accountId of [1, 950])
  for (const [name, interval, length] of RANGES)
    await report(`a page of getUsage of account ${accountId}, ${name}`, () =>
      usageHistory.ofAccount(accountId, { interval, from: now - length, to: now, limit: 1_000 }),
    );
await report('keys that called getPet in 30 days', () =>
  usageHistory.sums({ interval: 'day', from: now - 30 * DAY, to: now, by: 'key', operation: 'getPet' }),
);
const prunes: number[] = [];
for (let calls = 0; calls < 7; calls++) {
  const start = performance.now();
  await usageHistory.prune();
  prunes.push(performance.now() - start);
}
console.log(
  `prune: ${prunes.map((time) => time.toFixed(1)).join(', ')} ms; kept ${KEPT.hour / DAY} and ${KEPT.day / DAY} days`,
);

async function report(name: string, read: () => Promise<readonly unknown[]>): Promise<void> {
  const times: number[] = [];
  let rows = 0;
  for (let tries = 0; tries < TRIES; tries++) {
    const start = performance.now();
    rows = (await read()).length;
    times.push(performance.now() - start);
  }
  const [first = 0] = times;
  const median = times.toSorted((a, b) => a - b)[(TRIES - 1) / 2] ?? 0;
  console.log(`${name}: ${median.toFixed(1)} ms, first ${first.toFixed(1)} ms, ${rows} rows`);
}
