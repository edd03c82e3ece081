// Contract: section 8.
import { type KeyRecord, keyState } from '../domain/account.ts';
import { instantOrNull, textFromInstant } from '../domain/instant.ts';
import type { IssuedKey } from '../management/keys.ts';
import { printLine, printSecret } from '../terminal/output.ts';

/** A key that was just created, in JSON. The only outputs that ever hold a key are this and `printIssued`. */
export function issuedJson({ key, record }: IssuedKey) {
  const { id, ...settings } = describeKey(record);
  return { id, key: key.reveal(), ...settings };
}

export function printIssued({ key, record }: IssuedKey): void {
  const { id, account, plan, environment, scopes, expiresAt } = describeKey(record);
  const end = expiresAt === null ? '' : `, until ${expiresAt}`;
  printLine(`Key ${id} of account ${account} (plan ${plan}), for ${environment}, ${scopes.join(' ')}${end}:`);
  printSecret(key.reveal());
  if (record.account.suspendedAt !== undefined)
    printLine(`Account ${account} is suspended: the key is refused until petstore accounts resume.`);
}

/** The record of a key, in JSON. `now` is in Unix milliseconds. */
export function recordJson(key: KeyRecord, now: number) {
  return {
    ...describeKey(key),
    state: keyState(key, now),
    lastUsedAt: instantOrNull(key.lastUsedAt),
    rotatedTo: key.rotatedTo ?? null,
    createdAt: textFromInstant(key.createdAt),
    ending: key.ending ?? null,
    accountSuspended: key.account.suspendedAt !== undefined,
  };
}

/** `bannedUntil` is null without a ban, and undefined where bans are not looked up. */
export type RecordJson = ReturnType<typeof recordJson> & { readonly bannedUntil?: string | null | undefined };

export const RECORD_HEADER =
  'ID,ACCOUNT,PLAN,ENVIRONMENT,STATE,ENDING,SCOPES,LABEL,CREATED,EXPIRES,LAST USED'.split(',');

export function recordCells(key: RecordJson): readonly string[] {
  return [
    String(key.id),
    key.account,
    key.plan,
    key.environment,
    stateText(key),
    key.ending ?? '-',
    key.scopes.join(' '),
    key.label ?? '-',
    key.createdAt ?? '-',
    key.expiresAt ?? 'never',
    key.lastUsedAt ?? 'never',
  ];
}

function stateText({ state, rotatedTo, bannedUntil, accountSuspended }: RecordJson): string {
  return [
    ...(state === 'rotated' ? [] : [state]),
    ...(rotatedTo === null ? [] : [`rotated to ${rotatedTo}`]),
    ...(bannedUntil ? [`banned until ${bannedUntil}`] : []),
    ...(accountSuspended ? ['account suspended'] : []),
  ].join(', ');
}

function describeKey({ id, account, environment, scopes, label, expiresAt }: KeyRecord) {
  return {
    id,
    account: account.name,
    plan: account.plan,
    environment,
    scopes,
    label: label ?? null,
    expiresAt: instantOrNull(expiresAt),
  };
}
