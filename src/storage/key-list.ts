// Contract: sections 5.4 and 10.2.
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { KeyRecord } from '../domain/account.ts';
import type { KeyFilter, KeyPageQuery, KeyQuery } from '../domain/account-ports.ts';
import type { Environment } from '../domain/api-key.ts';
import { INT64_MAX } from '../domain/int64.ts';
import { keyFromRow, type KeyRow, SELECT_KEYS } from './account-rows.ts';
import type { Value } from './sql.ts';
import type { Engine } from './engine.ts';

/** Keys that one statement looks at: a few milliseconds of the thread that also answers requests, with SQLite. */
const KEYS_READ = 4_000;

/** The parameters of a statement. */
class Values {
  readonly all: Value[] = [];

  /** The SQL of a parameter with this value. */
  add(value: Value): string {
    return `$${this.all.push(value)}`;
  }
}

/** Which keys a filter lists at the instant `now` (Unix milliseconds), as `keyState` does. */
function filterConditions(
  { state, unusedFor, expiresWithin }: KeyFilter,
  now: number,
  values: Values,
): string[] {
  const conditions: string[] = [];
  const mayEnd = () => `k.revoked_at IS NULL AND coalesce(k.expires_at, ${INT64_MAX}) > ${values.add(now)}`;
  if (state === 'revoked') conditions.push('k.revoked_at IS NOT NULL');
  if (state === 'expired') conditions.push(`k.revoked_at IS NULL AND k.expires_at <= ${values.add(now)}`);
  if (state === 'rotated') conditions.push(`${mayEnd()} AND k.rotated_to IS NOT NULL`);
  if (state === 'active') conditions.push(`${mayEnd()} AND k.rotated_to IS NULL`);
  if (state === 'suspended') conditions.push('a.suspended_at IS NOT NULL');
  if (unusedFor !== undefined)
    conditions.push(`coalesce(k.last_used_at, k.created_at) <= ${values.add(now - unusedFor)}`);
  if (expiresWithin !== undefined)
    conditions.push(`${mayEnd()} AND k.expires_at <= ${values.add(now + expiresWithin)}`);
  return conditions;
}

/**
 * A page of the keys of an environment, newest first. A filter that few keys fit reads many keys; requests run in between.
 */
export async function pageOfKeys(
  engine: Engine,
  environment: Environment,
  { accountId, before, ids, limit, filter = {} }: KeyPageQuery,
  now: number,
): Promise<readonly KeyRecord[]> {
  const found: KeyRecord[] = [];
  for (let end: bigint = before === undefined ? INT64_MAX : BigInt(before); found.length < limit; ) {
    const values = new Values();
    const keys = [`k.environment = ${values.add(environment)}`, `k.id < ${values.add(end)}`];
    if (accountId !== undefined) keys.push(`k.account_id = ${values.add(accountId)}`);
    if (ids !== undefined) keys.push(engine.isAnyOf('k.id', values.add(JSON.stringify(ids))));
    const where = keys.join(' AND ');
    const conditions = filterConditions(filter, now, values);
    // The end of the walk of this round. A page without a filter, or of a few keys, is read at once.
    const [first] =
      conditions.length > 0 && ids === undefined
        ? await engine.read<[bigint]>(
            `SELECT k.id FROM keys k WHERE ${where} ORDER BY k.id DESC LIMIT 1 OFFSET ${KEYS_READ - 1}`,
            values.all.slice(0, keys.length),
          )
        : [];
    if (first !== undefined) conditions.push(`k.id >= ${values.add(first[0])}`);
    const rows = await engine.read<KeyRow>(
      `${SELECT_KEYS} WHERE ${[where, ...conditions].join(' AND ')}
        ORDER BY k.id DESC LIMIT ${values.add(limit - found.length)}`,
      values.all,
    );
    for (const row of rows) found.push(keyFromRow(row));
    if (first === undefined) break;
    end = first[0];
    await letOthersRun();
  }
  return found;
}

/** The keys of all environments, oldest first. */
export async function listKeys(
  engine: Engine,
  { accountId, filter = {} }: KeyQuery,
  now: number,
): Promise<readonly KeyRecord[]> {
  const values = new Values();
  const conditions = accountId === undefined ? [] : [`k.account_id = ${values.add(accountId)}`];
  conditions.push(...filterConditions(filter, now, values));
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return (await engine.read<KeyRow>(`${SELECT_KEYS} ${where} ORDER BY k.id`, values.all)).map(keyFromRow);
}
