import { readFileSync, writeFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/cli/context.ts';
import { DEFAULT_SCOPES } from '../../src/domain/scope.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { temporaryEnvironment, type Variables } from '../support/process.ts';
import { findOrCreateAccount, issueKey, openStore } from '../support/store.ts';

/**
 * Environments like those of `temporaryEnvironment`, with what `fill` adds. It runs once, and each later test gets a copy
 * of the file, because commands for the same rows take 0.2 s each.
 */
export function prepared<T extends object>(fill: (store: Store) => Promise<T>) {
  let made: { readonly database: Uint8Array; readonly result: T } | undefined;
  return async (t: TestContext): Promise<T & { readonly variables: Variables }> => {
    const variables = temporaryEnvironment(t);
    const url = variables['DATABASE_URL'] ?? '';
    const file = url.slice('sqlite:'.length);
    if (made === undefined) {
      const store = openStore(url, systemClock());
      const result = await fill(store);
      // The file is the whole database when it is closed.
      await store.close();
      made = { database: readFileSync(file), result };
    } else writeFileSync(file, made.database);
    return { ...made.result, variables };
  };
}

/** A new key of the account, which it makes with plan Free if there is none, like `keys create --plan free`. */
export async function newKey({ accounts, keys }: Store, account = 'shop', label?: string): Promise<string> {
  const { id } = await findOrCreateAccount(accounts, account, 'free');
  return (await issueKey(keys, { accountId: id, label, scopes: DEFAULT_SCOPES })).key.reveal();
}

/** An environment with an account `shop` and a key of it. */
export const withShop = prepared(async (store) => ({ key: await newKey(store) }));

/** The rows of a CSV of animals, up to the status. The other fields of these animals are empty. */
export function firstCells(csv: string): readonly string[] {
  return csv
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => row.replace(/,{9}$/, ''));
}
