// Contract: sections 5 and 8.
import { type KeyRecord, keyState } from '../../domain/account.ts';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import { type Cell, describeDistance, instantCell, type Column } from '../../terminal/table.ts';

/** With more keys than this, all bans are read, because that takes fewer calls than to look each key up. */
const FEW_KEYS = 5_000;

/** The ends of the bans of these keys, by the ids of the keys. */
export async function readBans(
  quotas: RateLimitAdmin,
  keys: readonly KeyRecord[],
): Promise<ReadonlyMap<number, number>> {
  const bans = keys.length <= FEW_KEYS ? await quotas.findBans(keys) : await quotas.listBans();
  return new Map(bans.map(({ keyId, until }) => [keyId, until]));
}

/** The record of a key, in JSON. `now` is in Unix milliseconds. */
export function toCommandKey(key: KeyRecord, now: number) {
  return {
    id: key.id,
    account: key.account.name,
    plan: key.account.plan,
    environment: key.environment,
    scopes: key.scopes,
    label: key.label ?? null,
    expiresAt: instantOrNull(key.expiresAt),
    state: keyState(key, now),
    lastUsedAt: instantOrNull(key.lastUsedAt),
    rotatedTo: key.rotatedTo ?? null,
    createdAt: textFromInstant(key.createdAt),
    ending: key.ending ?? null,
    accountSuspended: key.account.suspendedAt !== undefined,
  };
}

/** Where bans are not known, JSON leaves the field out. */
export function toListedKey(key: KeyRecord, now: number, bans: ReadonlyMap<number, number> | undefined) {
  return { ...toCommandKey(key, now), bannedUntil: bans && instantOrNull(bans.get(key.id)) };
}

type ListedKey = ReturnType<typeof toListedKey>;

export const KEY_COLUMNS: readonly Column<ListedKey>[] = [
  ['ID', ({ id }) => String(id)],
  ['ACCOUNT', ({ account }) => account, { shrinks: true }],
  ['PLAN', ({ plan }) => plan, { weight: 4 }],
  ['ENVIRONMENT', ({ environment }) => environment, { weight: 1 }],
  ['STATE', stateCell],
  ['ENDING', ({ ending }) => ending ?? '-', { weight: 5 }],
  ['SCOPES', ({ scopes }) => scopes.join(' '), { weight: 2, shrinks: true }],
  ['LABEL', ({ label }) => label ?? '-', { shrinks: true }],
  ['CREATED', ({ createdAt }) => instantCell(createdAt), { weight: 3 }],
  ['EXPIRES', ({ expiresAt }) => instantCell(expiresAt, 'never')],
  ['LAST USED', ({ lastUsedAt }) => instantCell(lastUsedAt, 'never')],
];

function stateCell(key: ListedKey): Cell {
  const { bannedUntil } = key;
  if (!bannedUntil) return describeStates(key);
  return {
    exact: describeStates(key, `banned until ${bannedUntil}`),
    short: (now) => describeStates(key, `ban ends ${describeDistance(Date.parse(bannedUntil), now)}`),
  };
}

function describeStates(key: ListedKey, ban?: string): string {
  const { state, rotatedTo, accountSuspended } = key;
  return [
    ...(state === 'rotated' ? [] : [state]),
    ...(rotatedTo === null ? [] : [`rotated to ${rotatedTo}`]),
    ...(ban === undefined ? [] : [ban]),
    ...(accountSuspended ? ['account suspended'] : []),
  ].join(', ');
}
