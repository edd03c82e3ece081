// Contract: section 8.4.
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Account, KeyRecord } from '../domain/account.ts';
import { SCOPES } from '../domain/scope.ts';
import { ApiKey, type Environment } from '../domain/api-key.ts';
import type { Actor } from '../domain/audit.ts';
import { requireValue } from '../terminal/command.ts';
import { DEFAULT_ACCOUNT } from '../resources/accounts/rules.ts';
import type { Store } from '../resources/repositories.ts';

export interface Started {
  readonly store: Pick<Store, 'accounts' | 'keys'>;
  readonly environment: Environment;
  readonly log: Logger;
}

/** The first key of an environment. Nothing but the banner may show it. */
export interface FirstKey {
  readonly key: ApiKey;
  readonly account: Account;
}

/** Creates a key with every scope if the environment of a started service has none. */
export async function createFirstKey(
  { store, environment }: Omit<Started, 'log'>,
  actor: Actor,
): Promise<FirstKey | undefined> {
  if ((await store.keys.list(environment, { limit: 1 })).items.length > 0) return undefined;
  const account = requireValue(await store.accounts.findOrCreate(actor, DEFAULT_ACCOUNT, 'free'));
  const key = ApiKey.generate(environment, randomBytes);
  requireValue(await store.keys.create(actor, { key, accountId: account.id, scopes: SCOPES }));
  return { key, account };
}

/** A valid key of the environment. If there is none, the log says how to make one. */
export async function findValidKey({ store, environment, log }: Started): Promise<KeyRecord | undefined> {
  const {
    items: [valid],
  } = await store.keys.list(environment, { limit: 1, filter: { state: 'valid' } });
  if (valid === undefined) {
    log.warn(
      `no key for ${environment} is valid: make one with "petstore keys create --account NAME --plan free", ` +
        'with the variables of this service',
    );
  }
  return valid;
}
