// Contract: section 8.
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { KeyRecord } from '../domain/account.ts';
import { SCOPES } from '../domain/scope.ts';
import { ApiKey, type Environment } from '../domain/api-key.ts';
import type { Actor } from '../domain/audit.ts';
import { requireValue } from '../terminal/command.ts';
import { DEFAULT_ACCOUNT } from '../resources/accounts/rules.ts';
import type { Store } from '../resources/repositories.ts';

interface Started {
  readonly store: Pick<Store, 'accounts' | 'keys'>;
  readonly environment: Environment;
  /** Where the service listens. */
  readonly url: string;
  readonly log: Logger;
}

/**
 * Creates a key if the environment of a started service has none. Returns what the operator should read on standard
 * error. Only that text holds the key.
 */
export async function firstKeyText(started: Started, actor: Actor): Promise<string> {
  const { store, environment, url, log } = started;
  const {
    items: [newest],
  } = await store.keys.list(environment, { limit: 1 });
  if (newest === undefined) {
    log.info('the first key is printed on standard error; "npx petstore seed 1000" adds invented animals');
    const account = requireValue(await store.accounts.findOrCreate(actor, DEFAULT_ACCOUNT, 'free'));
    const key = ApiKey.generate(environment, randomBytes);
    const settings = { key, accountId: account.id, scopes: SCOPES };
    requireValue(await store.keys.create(actor, settings));
    return newKeyText(key, account.plan, url);
  }
  const valid = await validKey(started);
  return valid === undefined ? '' : keysExistText(valid, url);
}

/** A valid key of the environment. If there is none, the log says how to make one. */
export async function validKey({ store, environment, log }: Started): Promise<KeyRecord | undefined> {
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

/** The command works as printed. */
function newKeyText(key: ApiKey, plan: string, url: string): string {
  return `
There was no API key for ${key.environment} yet. This one is of the account "default" (plan ${plan}) and is shown only once:

  export PETSTORE_API_KEY=${key.reveal()}

Try it in another terminal:

  curl -H 'Authorization: Bearer ${key.reveal()}' '${url}/v1/pets'

Add invented animals with "npx petstore seed 1000". Read the reference at ${url}/reference

`;
}

function keysExistText({ account, environment }: KeyRecord, url: string): string {
  return `
There are API keys for ${environment} already: "npx petstore keys list" lists them, without the keys themselves.
Make another one:

  npx petstore keys create --account ${shellWord(account.name)}

Add invented animals with "npx petstore seed 1000". Read the reference at ${url}/reference

`;
}

/** The text as one word of a shell, in quotes if it needs them. */
function shellWord(text: string): string {
  return /^[\w.]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
