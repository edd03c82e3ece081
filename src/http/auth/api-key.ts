// Contract: sections 5 and 6.
import { ApiKey, type ApiKeyHash, type Environment } from '../../domain/api-key.ts';
import { ERRORS } from '../../domain/errors.ts';
import type { KeyCheck } from '../../domain/key-rules.ts';

/* Which API key a request has. */

const BEARER = /^bearer +([^ ]+) *$/i;

/**
 * The hash of the key in an `Authorization` header, to look the key up by. A mistyped key, or one of the other
 * environment, is refused without a look-up.
 */
export function readCredentials(
  authorization: string | undefined,
  { environment, urls }: { environment: Environment; urls: Readonly<Partial<Record<Environment, string>>> },
): ApiKeyHash | KeyCheck {
  if (authorization === undefined) return { fault: ERRORS.unauthorized.message };
  const text = BEARER.exec(authorization)?.[1];
  if (text === undefined) {
    // A client whose variable for the key is empty sends `Bearer` alone.
    if (/^bearer *$/i.test(authorization)) return { fault: ERRORS.unauthorized.message };
    return { fault: 'The Authorization header must have the form "Bearer <API_KEY>".' };
  }
  const apiKey = ApiKey.parse(text);
  if (apiKey === undefined) {
    return { fault: 'The API key is malformed or mistyped: copy the whole key again.' };
  }
  if (apiKey.environment !== environment) {
    const { environment: other } = apiKey;
    const at = urls[other] === undefined ? '' : ` (${urls[other]})`;
    return {
      fault: `This API key belongs to the ${other} environment${at}; this is the ${environment} environment.`,
    };
  }
  return apiKey.hash();
}
