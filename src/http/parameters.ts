import { decodeCursor } from '../domain/cursor.ts';
import { PetStoreError } from '../domain/errors.ts';
import { PetStatus } from '../domain/pet.ts';
import type { PetQuery } from '../domain/ports.ts';

/** Page size of `listPets` (spec §8). */
export const LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** 1 to 255 visible ASCII characters (decisions §4). */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

/**
 * The query parameters of `listPets` (spec §4.1). Never clamped; unknown parameters are ignored.
 * @throws PetStoreError `invalid_parameter`, naming the parameter.
 */
export function parsePetQuery(query: string): PetQuery {
  if (query === '') return { limit: LIMIT.default };
  const parameters = pairsOf(query);
  const limit = single(parameters, 'limit');
  const status = single(parameters, 'status');
  const cursor = single(parameters, 'cursor');
  return {
    limit: limit === undefined ? LIMIT.default : parseLimit(limit),
    ...(status !== undefined && { status: parseStatus(status) }),
    ...(cursor !== undefined && { before: parseCursor(cursor) }),
  };
}

/**
 * The `Idempotency-Key` header (decisions §4).
 * @throws PetStoreError `invalid_parameter` unless it has 1 to 255 visible ASCII characters.
 */
export function parseIdempotencyKey(value: string): string {
  if (IDEMPOTENCY_KEY.test(value)) return value;
  throw fault('The Idempotency-Key header must have 1 to 255 visible ASCII characters.');
}

type Pair = readonly [name: string, value: string];

function pairsOf(query: string): readonly Pair[] {
  // Most queries need no decoding, which costs more than all the rest here.
  if (/[%+]/.test(query)) return [...new URLSearchParams(query)];
  return query.split('&').map((pair): Pair => {
    const equals = pair.indexOf('=');
    return equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
  });
}

function single(pairs: readonly Pair[], name: string): string | undefined {
  let found: string | undefined;
  for (const [each, value] of pairs) {
    if (each !== name) continue;
    if (found !== undefined) throw fault(`The parameter ${name} must not be repeated.`);
    found = value;
  }
  return found;
}

function parseLimit(text: string): number {
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
  if (limit >= LIMIT.minimum && limit <= LIMIT.maximum) return limit;
  throw fault(`The parameter limit must be an integer from ${LIMIT.minimum} to ${LIMIT.maximum}.`);
}

function parseStatus(text: string): PetStatus {
  const status = PetStatus.options.find((option) => option === text);
  if (status !== undefined) return status;
  throw fault(`The parameter status must be one of ${PetStatus.options.join(', ')}.`);
}

function parseCursor(text: string): bigint {
  const id = decodeCursor(text);
  if (id !== undefined) return id;
  throw fault('The parameter cursor must be one that the Link header of a list gave.');
}

function fault(message: string): PetStoreError {
  return new PetStoreError('invalid_parameter', message);
}
