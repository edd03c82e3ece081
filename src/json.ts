// Contract: section 2.
import { int64FromJson } from './domain/int64.ts';
import { ServiceError } from './domain/errors.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON body. Every number that is an int64 becomes an exact bigint. Other numbers stay inexact, and fit no field.
 * @throws ServiceError `invalid_request` when the body is not UTF-8, not JSON, or nested too deeply.
 */
export function parseBody(body: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch (error) {
    throw new ServiceError('invalid_request', 'The body must be encoded in UTF-8.', { cause: error });
  }
  try {
    return parseExactJson(text);
  } catch (error) {
    const fault = error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON';
    throw new ServiceError('invalid_request', `The body ${fault}.`, { cause: error });
  }
}

/**
 * `JSON.parse` in which every number that is an int64 is an exact bigint.
 * @throws SyntaxError when the text is not JSON, RangeError when it is nested too deeply.
 */
export function parseExactJson(text: string): unknown {
  // Integers of up to 15 digits are exact anyway, and a parse with the source texts takes three times as long.
  return /\d[.eE]|\d{16}/.test(text) ? JSON.parse(text, exactNumber) : withBigints(JSON.parse(text));
}

/** Turns every number in a value into a bigint. All of them must be integers. */
function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value !== 'object' || value === null) return value;
  const parent = value as Record<string, unknown>;
  for (const key of Object.keys(parent)) parent[key] = withBigints(parent[key]);
  return parent;
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined
    ? (int64FromJson(context.source) ?? value)
    : value;
}
