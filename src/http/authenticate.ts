// Contract: section 5.
import { type KeyRecord, keyState } from '../domain/account.ts';
import { ApiKey, type ApiKeyHash, type Environment } from '../domain/api-key.ts';
import { KEY_MISSING } from './messages.ts';

const BEARER = /^bearer +([^ ]+) *$/i;

export type Authentication =
  | { readonly key: KeyRecord; readonly fault?: never }
  /** The message of the 401. */
  | { readonly key?: never; readonly fault: string };

/**
 * The hash of the key in an `Authorization` header, to look the key up by. A mistyped key, or one of the other
 * environment, is refused without a look-up.
 */
export function readCredentials(
  authorization: string | undefined,
  { environment, urls }: { environment: Environment; urls: Readonly<Partial<Record<Environment, string>>> },
): ApiKeyHash | Authentication {
  if (authorization === undefined) return { fault: KEY_MISSING };
  const text = BEARER.exec(authorization)?.[1];
  if (text === undefined) {
    // A client whose variable for the key is empty sends `Bearer` alone.
    if (/^bearer *$/i.test(authorization)) return { fault: KEY_MISSING };
    return { fault: 'The Authorization header must have the form "Bearer <API_KEY>".' };
  }
  const apiKey = ApiKey.parse(text);
  if (apiKey === undefined) {
    return { fault: 'The API key is malformed or mistyped: copy the whole key again.' };
  }
  if (apiKey.environment !== environment) {
    const { environment: theirs } = apiKey;
    const at = urls[theirs] === undefined ? '' : ` (${urls[theirs]})`;
    return {
      fault: `This API key belongs to the ${theirs} environment${at}; this is the ${environment} environment.`,
    };
  }
  return apiKey.hash();
}

/** Whether a key that was looked up is valid at the instant `now` (Unix milliseconds). */
export function checkKey(key: KeyRecord | undefined, now: number): Authentication {
  if (key === undefined)
    return { fault: 'The API key is unknown: use one that was created for your account.' };
  const state = keyState(key, now);
  if (state === 'expired') return { fault: 'The API key has expired: use a newer one.' };
  if (state === 'revoked') return { fault: 'The API key has been revoked: use another one.' };
  if (key.account.suspendedAt !== undefined)
    return { fault: 'The account of this API key is suspended: ask the operator of this service.' };
  return { key };
}
