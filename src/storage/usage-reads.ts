// Contract: section 6.9.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Environment } from '../domain/api-key.ts';
import { DAY } from '../domain/clock.ts';
import {
  HOUR,
  LENGTH,
  type Usage,
  type UsageCount,
  type UsageHistory,
  type UsageInterval,
  type UsageKey,
  type UsageQuery,
} from '../domain/usage.ts';
import type { Engine } from './engine.ts';
import { byOutcome, COUNT_COLUMNS, type CountColumns, UsageRows, usageSums } from './usage-sums.ts';

/** Milliseconds of the history that one turn reads. With 20 keys and all operations that takes about 10 ms. */
const SLICE = { hour: DAY, day: 14 * DAY } as const satisfies Record<UsageInterval, number>;

const KEY_COLUMNS = 'k.id, k.label, a.id, a.name';
type KeyColumns = readonly [id: bigint, label: string | null, accountId: bigint, account: string];

/** The queries of the usage of an environment. */
export function usageReads(
  engine: Engine,
  environment: Environment,
): Pick<UsageHistory, 'ofAccount' | 'sums'> {
  const usage = new UsageRows(engine, environment);
  const keys = async (accountId: number | undefined): Promise<ReadonlyMap<number, UsageKey>> => {
    const ofAccount = accountId === undefined ? '' : 'AND k.account_id = $2';
    const rows = await engine.read<KeyColumns>(
      `SELECT ${KEY_COLUMNS} FROM keys k JOIN accounts a ON a.id = k.account_id WHERE k.environment = $1 ${ofAccount}`,
      accountId === undefined ? [environment] : [environment, accountId],
    );
    return new Map(rows.map((row) => [Number(row[0]), keyOf(row)]));
  };
  return {
    async *ofAccount(accountId, { interval, from, to }) {
      const read = interval === 'hour' ? byHour : byDay;
      const slice = SLICE[interval];
      for (let start = from; start < to; ) {
        const end = Math.min(to, (Math.floor(start / slice) + 1) * slice);
        yield* await read(usage, accountId, { interval, from: start, to: end });
        await letOthersRun();
        start = end;
      }
    },
    sums: usageSums(usage, keys),
  };
}

async function byDay(
  usage: UsageRows,
  accountId: number,
  { from, to }: UsageQuery,
): Promise<readonly Usage[]> {
  const rows = await usage.select<readonly [day: bigint, operation: string, keyId: bigint, ...CountColumns]>(
    `u.day, u.operation, u.key_id, ${COUNT_COLUMNS}`,
    'usage_days',
    [Math.ceil(from / DAY), Math.ceil(to / DAY)],
    { accountId },
    'ORDER BY u.day, u.operation, u.key_id',
  );
  return rows.map(([day, operation, keyId, ...counts]) =>
    Object.assign({ start: Number(day) * LENGTH.day, operation, keyId: Number(keyId) }, byOutcome(counts)),
  );
}

async function byHour(
  usage: UsageRows,
  accountId: number,
  { from, to }: UsageQuery,
): Promise<readonly Usage[]> {
  const counts = await usage.hours([Math.ceil(from / HOUR), Math.ceil(to / HOUR)], { accountId });
  return counts
    .toSorted(oldestFirst)
    .map(({ hour, operation, keyId, counts: its }) =>
      Object.assign({ start: hour * LENGTH.hour, operation, keyId }, byOutcome(its)),
    );
}

function oldestFirst(a: UsageCount, b: UsageCount): number {
  if (a.hour !== b.hour) return a.hour - b.hour;
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1;
  return a.keyId - b.keyId;
}

function keyOf([id, label, accountId, account]: KeyColumns) {
  return { keyId: Number(id), label: label ?? undefined, accountId: Number(accountId), account };
}
