// Contract: section 2. The schemas of fields that several things have.
import { z } from 'zod';
import { SCOPES } from './scope.ts';
import { instantFromText, NO_INSTANT } from './instant.ts';
import { INT64_MAX, INT64_MIN } from './int64.ts';

/** The int64 of all schemas: a bigint in the program, a JSON integer outside. */
export const int64 = z
  .bigint({
    error: ({ input }) =>
      `must be an integer from ${INT64_MIN} to ${INT64_MAX}${typeof input === 'string' ? ', not a string' : ''}`,
  })
  .meta({ type: 'integer', format: 'int64' });

/** The examples of a schema, as JSON. */
export function listExamples(schema: z.ZodType): readonly unknown[] {
  return (schema.meta()?.examples ?? []) as readonly unknown[];
}

/** A number of things in an answer. */
export const count = (description: string, minimum: number, example: number) =>
  int64.meta({ format: 'int32', minimum, maximum: 2 ** 31 - 1, description, examples: [example] });

/** One of these words, in a request. */
export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` });

export const ScopeName = oneOf(SCOPES).meta({
  id: 'Scope',
  description: 'What a key may do.',
  examples: ['pets:read'],
});

/** A date-time in an answer. */
export const dateTime = z
  .string({ error: NO_INSTANT })
  .max(64, { error: NO_INSTANT, abort: true })
  .meta({ format: 'date-time', examples: ['2027-01-15T09:00:00.000Z'] });

/** A date-time in a request. */
export const givenDateTime = dateTime.refine((value) => instantFromText(value) !== undefined);

const NO_DATE = 'must be a real date such as 2027-01-15, from the year 1 to 9999';

/** A day of the calendar. */
export const date = z
  .string({ error: NO_DATE })
  .refine(
    (value) => /^(?!0000)\d{4}-\d\d-\d\d$/.test(value) && instantFromText(`${value}T00:00:00Z`) !== undefined,
  )
  .meta({ format: 'date', maxLength: 10 });

interface About {
  readonly description: string;
  readonly examples: string[];
}

/** A text of at most `max` characters, which may be empty. */
export function optionalText(max: number, about: About): z.ZodString {
  return z
    .string({ error: `must be a string of at most ${max} characters` })
    .refine((value) => findStorageIssue(value, max) === undefined, {
      error: ({ input }) => findStorageIssue(String(input), max),
    })
    .meta({ ...about, maxLength: max, pattern: '^[^\\u0000]*$' });
}

/** A text of 1 to `max` characters that is not only white space. */
export function text(max: number, { description, examples }: About): z.ZodString {
  return (
    z
      .string({ error: `must be a string of 1 to ${max} characters` })
      // Not `superRefine`, which creates a function for each text.
      .refine((value) => findIssue(value, max) === undefined, {
        error: ({ input }) => findIssue(String(input), max),
      })
      .meta({ description, minLength: 1, maxLength: max, pattern: '\\S', examples })
  );
}

function findIssue(value: string, max: number): string | undefined {
  return value.trim() === '' ? 'must not be empty or only white space' : findStorageIssue(value, max);
}

/** The length is in code points, as in JSON Schema. PostgreSQL can store neither NUL nor a lone surrogate. */
function findStorageIssue(value: string, max: number): string | undefined {
  const isTooLong = value.length > 2 * max || (value.length > max && Array.from(value).length > max);
  if (isTooLong) return `must have at most ${max} characters`;
  if (value.includes('\0')) return 'must not contain a NUL character';
  if (!value.isWellFormed()) return 'must not contain a lone surrogate';
  return undefined;
}

interface Ends {
  readonly least: number;
  readonly most: number;
  readonly error: string;
}

/** A list of a body. Zod checks `max` before the items, and a refinement after them, when each wrong item is an issue. */
export function list<Item extends z.ZodType>(item: Item, { least, most, error }: Ends): z.ZodArray<Item> {
  return z.array(item, { error }).min(least).max(most);
}

/** A whole number of a body, which arrives as a bigint. */
export function wholeNumber(minimum: number, maximum: number) {
  const error = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .bigint({ error })
    .meta({ type: 'integer', minimum, maximum })
    .refine((value) => value >= minimum && value <= maximum)
    .transform(Number);
}

/** An instant of a body, in Unix milliseconds. */
export const bodyInstant = givenDateTime.transform((value) => instantFromText(value));

/** Bytes in base64url, as browsers write them, of at most `max` characters. */
export function base64url(max: number): z.ZodString {
  return z
    .string({ error: 'must be a string' })
    .max(max, { error: `must have at most ${max} characters`, abort: true })
    .regex(/^[\w-]+$/, { error: 'must be base64url' });
}

/** How long a list is, for operators. */
export const ListCount = z
  .object({
    count: z.int().meta({ description: 'How many rows the list has with these filters.' }),
    total: z.int().meta({ description: 'How many rows it has without filters.' }),
  })
  .meta({ id: 'ListCount', description: 'How many rows a list has.', examples: [{ count: 37, total: 212 }] });
