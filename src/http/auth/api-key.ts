// Contract: sections 5 and 6.
import { ApiKey, type ApiKeyHash, type Environment } from '../../domain/api-key.ts';
import type { Failure } from '../../domain/result.ts';

/* Which API key a request has. */

/** The text after `Bearer` in an `Authorization` header of that form. */
export function readBearer(authorization: string): string | undefined {
  return /^bearer +([^ ]+) *$/i.exec(authorization)?.[1];
}

/**
 * The hash of the key in an `Authorization` header, to look the key up by. A mistyped key, or one of the other
 * environment, is refused without a look-up.
 */
export function readCredentials(
  authorization: string | undefined,
  { environment, urls }: { environment: Environment; urls: Readonly<Partial<Record<Environment, string>>> },
): ApiKeyHash | Failure<'unauthorized'> {
  if (authorization === undefined) return { error: 'unauthorized' };
  const text = readBearer(authorization);
  if (text === undefined) {
    // A client whose variable for the key is empty sends `Bearer` alone.
    if (/^bearer *$/i.test(authorization)) return { error: 'unauthorized' };
    return refuse('The Authorization header must have the form "Bearer <API_KEY>".');
  }
  const apiKey = ApiKey.parse(text);
  if (apiKey === undefined) return refuse('The API key is malformed or mistyped: copy the whole key again.');
  if (apiKey.environment !== environment) {
    const { environment: other } = apiKey;
    const at = urls[other] === undefined ? '' : ` (${urls[other]})`;
    return refuse(
      `This API key belongs to the ${other} environment${at}; this is the ${environment} environment.`,
    );
  }
  return apiKey.hash();
}

function refuse(message: string): Failure<'unauthorized'> {
  return { error: 'unauthorized', message };
}
