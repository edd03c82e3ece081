import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { DEFAULT_SCOPES, isInForce, type KeyRecord } from '../domain/account.ts';
import type { ApiKey, Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import type { AccountRepository } from '../domain/account-ports.ts';
import { defaultAccount } from '../management/accounts.ts';
import { issueKey } from '../management/keys.ts';

interface Started {
  readonly accounts: AccountRepository;
  readonly environment: Environment;
  /** Where the service listens. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Creates a key if the environment of a started service has none. Returns what the operator should read on standard
 * error. Only that text holds the key.
 */
export async function firstKeyText(started: Started): Promise<string> {
  const { accounts, environment, url, log } = started;
  const isFirst = (await newestKey(started, () => true)) === undefined;
  if (isFirst) {
    log.info('the first key is printed on standard error; "npx petstore seed 1000" adds invented animals');
    const account = await defaultAccount(accounts);
    const settings = { account, environment, label: undefined, scopes: DEFAULT_SCOPES, expiresAt: undefined };
    const { key } = await issueKey(accounts, randomBytes, settings);
    return newKeyText(key, account.plan, url);
  }
  const valid = await validKey(started);
  return valid === undefined ? '' : keysExistText(valid, url);
}

/** A valid key of the environment. If there is none, the log says how to make one. */
export async function validKey(started: Started): Promise<KeyRecord | undefined> {
  const { environment, clock, log } = started;
  const now = clock().unix;
  const valid = await newestKey(
    started,
    (key) => isInForce(key, now) && key.account.suspendedAt === undefined,
  );
  if (valid === undefined) {
    log.warn(
      `no key for ${environment} is valid: make one with "petstore keys create --account NAME --plan free", ` +
        'with the variables of this service',
    );
  }
  return valid;
}

/** The newest key of the environment that `fits`. */
async function newestKey(
  { accounts, environment }: Started,
  fits: (key: KeyRecord) => boolean,
): Promise<KeyRecord | undefined> {
  for await (const key of accounts.keysOf(environment)) if (fits(key)) return key;
  return undefined;
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
