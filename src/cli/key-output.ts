// Contract: section 8.
import { type KeyRecord, keyState } from '../domain/account.ts';
import type { IssuedKey } from './issue-key.ts';
import { isoInstant, printLine } from './output.ts';

/** A key that was issued, in JSON. The only outputs that ever hold a key are this and `printIssued`. */
export function issuedJson({ key, record }: IssuedKey) {
  const { id, ...settings } = describeKey(record);
  return { id, key: key.reveal(), ...settings };
}

export function printIssued({ key, record }: IssuedKey): void {
  const { id, account, plan, environment, scopes, expiresAt } = describeKey(record);
  const end = expiresAt === null ? '' : `, until ${expiresAt}`;
  printLine(`Key ${id} of account ${account} (plan ${plan}), for ${environment}, ${scopes.join(' ')}${end}:`);
  printLine('');
  printLine(`  ${key.reveal()}`);
  printLine('');
  printLine('It is shown only this once: only its hash is kept.');
}

/** The record of a key, in JSON. `now` is in Unix milliseconds. */
export function recordJson(key: KeyRecord, now: number) {
  return {
    ...describeKey(key),
    state: keyState(key, now),
    lastUsedAt: isoInstant(key.lastUsedAt),
    rotatedTo: key.rotatedTo ?? null,
  };
}

type RecordJson = ReturnType<typeof recordJson>;

export const RECORD_HEADER = 'ID,ACCOUNT,PLAN,ENVIRONMENT,STATE,SCOPES,LABEL,EXPIRES,LAST USED'.split(',');

export function recordCells(key: RecordJson): readonly string[] {
  return [
    String(key.id),
    key.account,
    key.plan,
    key.environment,
    stateText(key),
    key.scopes.join(' '),
    key.label ?? '-',
    key.expiresAt ?? 'never',
    key.lastUsedAt ?? 'never',
  ];
}

function stateText({ state, rotatedTo }: RecordJson): string {
  const successor = rotatedTo === null ? [] : [`rotated to ${rotatedTo}`];
  return [...(state === 'rotated' ? [] : [state]), ...successor].join(', ');
}

function describeKey({ id, account, environment, scopes, label, expiresAt }: KeyRecord) {
  return {
    id,
    account: account.name,
    plan: account.plan,
    environment,
    scopes,
    label: label ?? null,
    expiresAt: isoInstant(expiresAt),
  };
}
