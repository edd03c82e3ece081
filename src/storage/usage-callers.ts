// Contract: section 6.9.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { limitsOf } from '../domain/account.ts';
import { type Clock, DAY } from '../domain/clock.ts';
import type { Plan } from '../domain/plan.ts';
import { HOUR, type UsageHistory } from '../domain/usage.ts';
import type { Environment } from '../domain/api-key.ts';
import type { Row } from './sql.ts';
import type { Engine } from './engine.ts';
import { lastHourIn } from './usage-hours.ts';

/** Ids of keys in one read. They grow and shrink with the time that it takes, because keys have few or many rows. */
const SLICE = { least: 100, first: 500, most: 2_000 };

/** Milliseconds. With SQLite, a read holds up the thread that also answers requests. */
const SHORT = 2;
const LONG = 6;

const REQUESTS = 'u.ok + u.client_error + u.refused + u.server_error';
const SUM = `CAST(sum(${REQUESTS}) AS bigint)`;

// CROSS keeps the order of the tables in SQLite, which would read all rows of the history first, and then look for the
// key of each.
const OF_KEYS = `FROM keys k CROSS JOIN usage_days u
  WHERE u.key_id = k.id AND k.id > $1 AND k.id <= $2 AND k.environment = $3`;

const CALLERS = `SELECT k.id, k.account_id, ${SUM} ${OF_KEYS} AND u.operation = $4 AND u.day >= $5
  GROUP BY k.id, k.account_id ORDER BY 3 DESC, k.id`;

const ACCOUNTS_OF_DAY = `SELECT s.account_id, a.plan, a.per_minute, a.per_day, s.requests
  FROM (SELECT k.account_id, ${SUM} AS requests ${OF_KEYS} AND u.day = $4 GROUP BY k.account_id) AS s
  JOIN accounts a ON a.id = s.account_id`;

type CallerRow = readonly [
  id: bigint,
  label: string | null,
  accountId: bigint,
  account: string,
  requests: bigint,
  day: bigint,
  hours: string | null,
];

type AccountOfDayRow = readonly [
  id: bigint,
  plan: string,
  perMinute: bigint | null,
  perDay: bigint | null,
  requests: bigint,
];

/** Who called. Lists of all keys come in slices, and requests run in between. */
export function usageCallers(
  engine: Engine,
  { clock, environment }: { readonly clock: Clock; readonly environment: Environment },
): Pick<UsageHistory, 'callers' | 'callersOf' | 'accountsOfDay'> {
  return {
    async *callers(operation, from) {
      const values = [environment, operation, Math.floor(from / DAY)];
      const read = (after: number, last: number) =>
        engine.read<[bigint, bigint, bigint]>(CALLERS, [after, last, ...values]);
      for await (const rows of inSlices(engine, clock, read))
        yield rows.map(([keyId, accountId, requests]) => ({
          keyId: Number(keyId),
          accountId: Number(accountId),
          requests: Number(requests),
        }));
    },
    async callersOf(operation, from, keyIds) {
      if (keyIds.length === 0) return [];
      const rows = await engine.read<CallerRow>(
        `SELECT k.id, k.label, a.id, a.name, s.requests, s.day,
           (SELECT hours FROM usage_hours h WHERE h.key_id = k.id AND h.day = s.day AND h.operation = $1)
         FROM (SELECT u.key_id, ${SUM} AS requests, max(u.day) AS day FROM usage_days u
           WHERE ${engine.isAnyOf('u.key_id', '$4')} AND u.operation = $1 AND u.day >= $2 GROUP BY u.key_id) AS s
         CROSS JOIN keys k CROSS JOIN accounts a
         WHERE k.id = s.key_id AND a.id = k.account_id AND k.environment = $3 ORDER BY s.requests DESC, k.id`,
        [operation, Math.floor(from / DAY), environment, JSON.stringify(keyIds)],
      );
      return rows.map(([keyId, label, accountId, account, requests, day, hours]) => ({
        keyId: Number(keyId),
        label: label ?? undefined,
        accountId: Number(accountId),
        account,
        requests: Number(requests),
        lastHour: Number(day) * DAY + lastHourIn(hours) * HOUR,
      }));
    },
    async *accountsOfDay(at) {
      const values = [environment, Math.floor(at / DAY)];
      const read = (after: number, last: number) =>
        engine.read<AccountOfDayRow>(ACCOUNTS_OF_DAY, [after, last, ...values]);
      for await (const rows of inSlices(engine, clock, read))
        yield rows.map(([accountId, plan, perMinute, perDay, requests]) => ({
          accountId: Number(accountId),
          limits: limitsOf(
            plan as Plan,
            perMinute === null || perDay === null
              ? {}
              : { perMinute: Number(perMinute), perDay: Number(perDay) },
          ),
          requests: Number(requests),
        }));
    },
  };
}

/** What `read` finds for the keys with ids above `after` up to `last`, for all keys. */
async function* inSlices<R extends Row>(
  engine: Engine,
  clock: Clock,
  read: (after: number, last: number) => Promise<readonly R[]>,
): AsyncGenerator<readonly R[]> {
  const [row] = await engine.read<[bigint | null]>('SELECT max(id) FROM keys');
  const end = Number(row?.[0] ?? 0);
  let size = SLICE.first;
  for (let after = 0; after < end; ) {
    const last = Math.min(after + size, end);
    const start = clock().monotonic;
    const rows = await read(after, last);
    const took = clock().monotonic - start;
    yield rows;
    if (took < SHORT) size = Math.min(size * 2, SLICE.most);
    if (took > LONG) size = Math.max(Math.floor(size / 2), SLICE.least);
    after = last;
    if (after < end) await letOthersRun();
  }
}
