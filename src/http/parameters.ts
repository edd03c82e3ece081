// Contract: sections 3 and 6.
import { hash } from 'node:crypto';
import { decodeCursor } from '../domain/cursor.ts';
import { PetStoreError } from '../domain/errors.ts';
import { PetStatus } from '../domain/pet.ts';
import type { IdempotencyKeyHash, PetQuery } from '../domain/ports.ts';

/** Page size of `listPets`. */
export const LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

/** 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

/**
 * The query parameters of `listPets`. Never clamped; unknown parameters are ignored.
 * @throws PetStoreError `invalid_parameter`, naming the parameter.
 */
export function parsePetQuery(query: string): PetQuery {
  const parameters = new PetParameters();
  // Most queries need no decoding, which costs more than all the rest here.
  if (/[%+]/.test(query)) {
    for (const [name, value] of new URLSearchParams(query)) parameters.note(name, value);
  } else {
    for (let begin = 0; begin < query.length; ) {
      const end = endOf(query, '&', begin, query.length);
      const equals = endOf(query, '=', begin, end);
      parameters.note(query.slice(begin, equals), query.slice(equals + 1, end));
      begin = end + 1;
    }
  }
  const { limit, status, cursor } = parameters;
  return {
    limit: limit === undefined ? LIMIT.default : parseLimit(limit),
    status: status === undefined ? undefined : parseStatus(status),
    before: cursor === undefined ? undefined : parseCursor(cursor),
  };
}

/**
 * The hash of the `Idempotency-Key` header: the value itself goes no further than this function.
 * @throws PetStoreError `invalid_parameter` unless it has 1 to 255 visible ASCII characters.
 */
export function parseIdempotencyKey(value: string): IdempotencyKeyHash {
  if (IDEMPOTENCY_KEY.test(value)) return `sha256 ${hash('sha256', value, 'hex')}`;
  throw fault('The Idempotency-Key header must have 1 to 255 visible ASCII characters.');
}

/** What the query says, not looked at yet. */
class PetParameters {
  limit: string | undefined;
  status: string | undefined;
  cursor: string | undefined;

  note(name: string, value: string): void {
    if (name === 'limit') this.limit = once(name, this.limit, value);
    else if (name === 'status') this.status = once(name, this.status, value);
    else if (name === 'cursor') this.cursor = once(name, this.cursor, value);
  }
}

function once(name: string, before: string | undefined, value: string): string {
  if (before !== undefined) throw fault(`The parameter ${name} must not be repeated.`);
  return value;
}

/** Where `mark` stands in this part of `text`, or else the part's end. */
function endOf(text: string, mark: string, begin: number, end: number): number {
  const at = text.indexOf(mark, begin);
  return at === -1 || at > end ? end : at;
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
