// Contract: sections 5 and 8.
import { type KeyRecord, keyState } from '../../domain/account.ts';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import type { RateLimitAdmin } from '../../limits/limiter.ts';
import { type Cell, type Column, describeDistance, instantCell } from '../../terminal/table.ts';

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

export const KEY_COLUMNS: readonly Column[] = [
  'ID',
  { title: 'ACCOUNT', shrinks: true },
  { title: 'PLAN', weight: 4 },
  { title: 'ENVIRONMENT', weight: 1 },
  'STATE',
  { title: 'ENDING', weight: 5 },
  { title: 'SCOPES', weight: 2, shrinks: true },
  { title: 'LABEL', shrinks: true },
  { title: 'CREATED', weight: 3 },
  'EXPIRES',
  'LAST USED',
];

export function describeKeyCells(key: ReturnType<typeof toListedKey>): readonly Cell[] {
  const { bannedUntil } = key;

  const state = bannedUntil
    ? {
        exact: describeStates(key, `banned until ${bannedUntil}`),
        short: (now: number) =>
          describeStates(key, `ban ends ${describeDistance(Date.parse(bannedUntil), now)}`),
      }
    : describeStates(key);
  return [
    String(key.id),
    key.account,
    key.plan,
    key.environment,
    state,
    key.ending ?? '-',
    key.scopes.join(' '),
    key.label ?? '-',
    instantCell(key.createdAt),
    instantCell(key.expiresAt, 'never'),
    instantCell(key.lastUsedAt, 'never'),
  ];
}

function describeStates(key: ReturnType<typeof toListedKey>, ban?: string): string {
  const { state, rotatedTo, accountSuspended } = key;
  return [
    ...(state === 'rotated' ? [] : [state]),
    ...(rotatedTo === null ? [] : [`rotated to ${rotatedTo}`]),
    ...(ban === undefined ? [] : [ban]),
    ...(accountSuspended ? ['account suspended'] : []),
  ].join(', ');
}
