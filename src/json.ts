// Contract: section 2.
import { int64FromJson } from './domain/int64.ts';
import { PetStoreError } from './domain/errors.ts';
import type { Pet } from './domain/pet.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A JSON body as a value in which every number that is an int64 is an exact bigint; other numbers stay
 * inexact, and fit no field.
 * @throws PetStoreError `invalid_request` when the body is not UTF-8, not JSON, or nested too deeply.
 */
export function parseBody(body: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch (error) {
    throw new PetStoreError('invalid_request', 'The body must be encoded in UTF-8.', { cause: error });
  }
  try {
    return parseExactJson(text);
  } catch (error) {
    const fault = error instanceof RangeError ? 'is nested too deeply' : 'is not valid JSON';
    throw new PetStoreError('invalid_request', `The body ${fault}.`, { cause: error });
  }
}

/**
 * `JSON.parse` in which every number that is an int64 is an exact bigint.
 * @throws SyntaxError when the text is not JSON, RangeError when it is nested too deeply.
 */
export function parseExactJson(text: string): unknown {
  // Integers of up to 15 digits are exact as they are, and a parse that is told of the source takes three times as long.
  return /\d[.eE]|\d{16}/.test(text) ? JSON.parse(text, exactNumber) : integers(JSON.parse(text));
}

/** The same value with every number in it, each an integer, as a bigint. */
function integers(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value !== 'object' || value === null) return value;
  const parent = value as Record<string, unknown>;
  for (const key of Object.keys(parent)) parent[key] = integers(parent[key]);
  return parent;
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined
    ? (int64FromJson(context.source) ?? value)
    : value;
}

/** An animal as JSON: int64 exact, an absent status absent. */
export function petJson({ id, name, categoryId, status }: Pet): string {
  const end = status === undefined ? '}' : `,"status":"${status}"}`;
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${end}`;
}

export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map(petJson).join(',')}]`;
}
