// Contract: section 5.
import { type KeyRecord, keyState } from '../domain/account.ts';
import type { IssuedKey } from '../domain/issue-key.ts';
import { isoInstant, printJson, printLine, printTable } from './output.ts';

const HEADER = ['ID', 'ACCOUNT', 'PLAN', 'ENVIRONMENT', 'STATE', 'SCOPES', 'LABEL', 'EXPIRES', 'LAST USED'];

/** The only output that holds a key: there is no second one for it. */
export function printIssuedKey({ key, record }: IssuedKey, json: boolean): void {
  if (json) {
    const { id, ...settings } = describe(record);
    printJson({ id, key: key.reveal(), ...settings });
    return;
  }
  const { id, account, plan, environment, scopes, expiresAt } = describe(record);
  const end = expiresAt === null ? '' : `, until ${expiresAt}`;
  printLine(`Key ${id} of account ${account} (plan ${plan}), for ${environment}, ${scopes.join(' ')}${end}:`);
  printLine('');
  printLine(`  ${key.reveal()}`);
  printLine('');
  printLine('It is shown only this once: only its hash is kept.');
}

/** `now` is in Unix milliseconds. */
export function printKeys(keys: readonly KeyRecord[], now: number, json: boolean): void {
  const all = keys.map((key) => describeState(key, now));
  if (json) {
    printJson(all);
    return;
  }
  printTable(
    HEADER,
    all.map((key) => [
      String(key.id),
      key.account,
      key.plan,
      key.environment,
      key.state,
      key.scopes.join(' '),
      key.label ?? '-',
      key.expiresAt ?? 'never',
      key.lastUsedAt ?? 'never',
    ]),
  );
}

/** `now` is in Unix milliseconds. */
export function printRevoked(key: KeyRecord, now: number, json: boolean): void {
  if (json) printJson(describeState(key, now));
  else printLine(`Key ${key.id} of account ${key.account.name} is revoked.`);
}

function describe({ id, account, environment, scopes, label, expiresAt }: KeyRecord) {
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

function describeState(key: KeyRecord, now: number) {
  return { ...describe(key), state: keyState(key, now), lastUsedAt: isoInstant(key.lastUsedAt) };
}
