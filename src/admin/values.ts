// Contract: section 10.2.
import { z } from 'zod';
import { LIMIT, integer, int64, oneOf, type Parameter } from '../http/parameters.ts';
import { givenDateTime } from '../domain/fields.ts';
import { instantFromText, textFromInstant } from '../domain/instant.ts';

/** A whole number of a body, which arrives as a bigint. */
export function whole(minimum: number, maximum: number) {
  const error = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .bigint({ error })
    .meta({ type: 'integer', minimum, maximum })
    .refine((value) => value >= minimum && value <= maximum, { error })
    .transform(Number);
}

/** An instant of a body, in Unix milliseconds. */
export const instantOfBody = givenDateTime.transform((text) => instantFromText(text));

/** How many rows a page has. */
export const limit = integer(LIMIT, { description: 'Maximum number of rows.', example: LIMIT.default });

/** A parameter of a path that names a row by its number. There is no path for a number that no row can have. */
export function rowId(description: string): Parameter<number> {
  const filter = rowFilter(description);
  return { ...filter, read: (text) => filter.read(text) || undefined };
}

/** A query parameter that keeps what belongs to the row of a number. */
export function rowFilter(description: string, example = 1): Parameter<number> {
  const { read, schema, fault, absent } = int64({ description, example });
  return { description, example, schema, read: (text) => numberOf(read(text)), fault, absent };
}

/** The number of a row, if one is given. 0, which no row has, for one that no row can have: it could not be exact. */
function numberOf(id: bigint | undefined): number | undefined {
  if (id === undefined) return undefined;
  return id > 0 && id <= Number.MAX_SAFE_INTEGER ? Number(id) : 0;
}

/** The number at which a page begins. One that no row can have counts as the smallest or the largest that a row can have. */
export function cursorNumber(cursor: bigint | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  return cursor < 0 ? 0 : Number(cursor > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : cursor);
}

/** A query parameter with one of these texts. */
export function choice<Option extends string>(
  options: readonly Option[],
  about: { readonly description: string; readonly example: Option },
): Parameter<Option> {
  return { ...oneOf(options, '', about), schema: { type: 'string', enum: options } };
}

/** A query parameter with a whole number of seconds. */
export function seconds(about: {
  readonly description: string;
  readonly example: number;
}): Parameter<number> {
  return {
    ...about,
    schema: { type: 'integer', format: 'int32', minimum: 0, maximum: 999_999_999 },
    read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
    fault: 'must be a whole number of seconds with at most 9 digits',
    absent: undefined,
  };
}

/** A query parameter with a short text. */
export function word(most: number, about: { description: string; example: string }): Parameter<string> {
  return {
    ...about,
    schema: { type: 'string', maxLength: most },
    read: (text) => (text.length <= most && !text.includes('\0') ? text : undefined),
    fault: `must have at most ${most} characters`,
    absent: undefined,
  };
}

/** Unix milliseconds as an ISO 8601 instant in UTC, if they are given. */
export function iso(milliseconds: number | undefined): string | undefined {
  return milliseconds === undefined ? undefined : textFromInstant(milliseconds);
}

/** A page of `most` rows, from `rows` with one more when others follow. `next` is the number after which the next begins. */
export function pageOf<T extends { readonly id: number }>(
  rows: readonly T[],
  most: number,
  describe: (row: T) => object,
) {
  const page = rows.slice(0, most);
  const last = page.at(-1);
  const next = rows.length > most && last !== undefined ? BigInt(last.id) : undefined;
  return { value: page.map(describe), next };
}
