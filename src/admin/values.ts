// Contract: section 10.2.
import { z } from 'zod';
import { LIMIT, integer, int64 } from '../api/parameters.ts';

/** A whole number of a body, which arrives as a bigint. */
export function whole(minimum: number, maximum: number) {
  const error = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .bigint({ error })
    .refine((value) => value >= minimum && value <= maximum, { error })
    .transform(Number);
}

/** How many rows a page has. */
export const limit = integer(LIMIT, { description: 'Maximum number of rows.', example: LIMIT.default });

/** A parameter that names a row by its number. */
export const rowId = (description: string) => int64({ description, example: 1 });

/** Unix milliseconds as an ISO 8601 instant in UTC. */
export function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The members of an object that have a value. */
export function present<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, its]) => its !== undefined)) as Partial<T>;
}
