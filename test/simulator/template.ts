import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiKey } from '../../src/domain/api-key.ts';
import type { Limits } from '../../src/domain/plan.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { fakeClock } from '../support/clock.ts';
import { newDatabase } from '../support/new-database.ts';
import { Random } from '../support/random.ts';
import { addKey, createAccount, openStore, ROOT } from '../support/store.ts';
import { BEGIN } from './scheduler.ts';
import { requireValue } from '../../src/terminal/command.ts';

const PLENTY: Limits = { perMinute: 1_000_000, perDay: 1_000_000 };

/** The accounts of every run, with their limits and how many keys they have. */
const ACCOUNTS = {
  shop: { limits: PLENTY, keys: 2 },
  rival: { limits: PLENTY, keys: 1 },
  small: { limits: { perMinute: 12, perDay: 40 }, keys: 2 },
  steady: { limits: { perMinute: 24, perDay: 1_000 }, keys: 1 },
  reserve: { limits: { perMinute: 20, perDay: 1_000 }, keys: 1 },
  tiny: { limits: { perMinute: 6, perDay: 1_000 }, keys: 1 },
} as const satisfies Record<string, { readonly limits: Limits; readonly keys: number }>;

export interface SimulatedKey {
  readonly id: number;
  readonly accountId: number;
  readonly text: string;
}

export interface SimulatedAccount {
  readonly id: number;
  readonly name: string;
  readonly limits: Limits;
  readonly keys: readonly SimulatedKey[];
}

export type Accounts = Readonly<Record<keyof typeof ACCOUNTS, SimulatedAccount>>;

/** A migrated database with accounts, keys and categories, of which each run gets a copy. */
export interface Template {
  readonly accounts: Accounts;
  readonly categories: readonly number[];
  /** Puts a copy at this path. */
  copy(file: string): void;
}

export async function makeTemplate(folder: string): Promise<Template> {
  const file = join(mkdtempSync(join(folder, 'template-')), 'petstore.db');
  newDatabase(file);
  const store = openStore(`sqlite:${file}`, fakeClock(BEGIN));
  // The same keys in each thread.
  const random = new Random(0, 'template');
  const accounts: Record<string, SimulatedAccount> = {};
  for (const [name, { limits, keys: count }] of Object.entries(ACCOUNTS)) {
    const { id } = await createAccount(store.accounts, name, 'enterprise', limits);
    const keys: SimulatedKey[] = [];
    for (let number = 0; number < count; number++) {
      const key = ApiKey.generate('production', (length) => random.bytes(length));
      const record = await addKey(store.keys, { key, accountId: id, scopes: SCOPES });
      keys.push({ id: record.id, accountId: id, text: key.reveal() });
    }
    accounts[name] = { id, name, limits, keys };
  }
  const categories: number[] = [];
  for (const name of ['Dogs', 'Cats'])
    categories.push(Number(requireValue(await store.categories.create(ROOT, { name })).id));
  await store.close();
  const bytes = readFileSync(file);
  return {
    accounts: accounts as unknown as Accounts,
    categories,
    copy: (path) => writeFileSync(path, bytes, { mode: 0o600 }),
  };
}
