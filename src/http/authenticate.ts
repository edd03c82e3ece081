import { type KeyRecord, keyState } from '../domain/account.ts';
import { ApiKey, type Environment } from '../domain/api-key.ts';
import type { AccountStore } from '../domain/ports.ts';
import { KEY_MISSING } from './messages.ts';

export type Authentication =
  | { readonly key: KeyRecord; readonly fault?: never }
  /** What is wrong, for the 401's message. */
  | { readonly key?: never; readonly fault: string };

const BEARER = /^bearer +([^ ]+) *$/i;

/**
 * Finds the key that an `Authorization` header carries (spec §5; decisions §5). A key that is mistyped or of the other
 * environment is refused without a look-up. `now` is in Unix milliseconds.
 * Rejects with `unavailable` when the store cannot answer.
 */
export async function authenticate(
  authorization: string | undefined,
  {
    accounts,
    environment,
    urls,
  }: { accounts: AccountStore; environment: Environment; urls: Record<Environment, string> },
  now: number,
): Promise<Authentication> {
  if (authorization === undefined) {
    return { fault: KEY_MISSING };
  }
  const text = BEARER.exec(authorization)?.[1];
  if (text === undefined) {
    return { fault: 'The Authorization header must have the form "Bearer <API_KEY>".' };
  }
  const apiKey = ApiKey.parse(text);
  if (apiKey === undefined) {
    return { fault: 'The API key is malformed or mistyped: copy it again as it was issued.' };
  }
  if (apiKey.environment !== environment) {
    const theirs = apiKey.environment;
    return {
      fault: `This API key belongs to the ${theirs} environment (${urls[theirs]}); here is ${environment}.`,
    };
  }
  const key = await accounts.findKeyByHash(apiKey.hash());
  if (key === undefined) return { fault: 'The API key is unknown: use one that was issued to you.' };
  const state = keyState(key, now);
  if (state === 'expired') return { fault: 'The API key has expired: use a newer one.' };
  if (state === 'revoked') return { fault: 'The API key has been revoked: use another one.' };
  accounts.noteUse(key.id);
  return { key };
}
