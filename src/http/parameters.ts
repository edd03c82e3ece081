// Contract: sections 3 and 4.
import type { z } from 'zod';
import { decodeCursor, decodeTextCursor, encodeCursor, type SortKey } from '../domain/cursor.ts';
import { ServiceError } from '../domain/errors.ts';
import { instantFromText, LAST_INSTANT, NO_INSTANT, textFromInstant } from '../domain/instant.ts';
import { int64FromDecimal } from '../domain/int64.ts';

interface About {
  readonly description: string;
  readonly example: string | number | boolean | readonly number[] | readonly string[];
}

/** Characters that percent-encoding makes of a unit of UTF-16, at most. */
const ENCODED = 9;

/** The same of one code point. */
const ENCODED_POINT = 12;

const longestOf = (texts: readonly string[]) =>
  Math.max(...texts.map((each) => encodeURIComponent(each).length));

/** How many items a page of a list has. */
export const LIMIT = { minimum: 1, maximum: 100, default: 20 } as const;

export type Value = string | number | bigint | boolean | readonly bigint[] | readonly string[] | SortKey;

/** The values of parameters by name, undefined for each that is absent. */
export type Values = Readonly<Record<string, Value | undefined>>;

/**
 * A parameter of a path or of a query: type, check and description at once. It is no zod schema, because zod takes
 * several times as long to read a text, and a list request reads two.
 */
export interface Parameter<T extends Value = Value, Absent extends Value | undefined = undefined>
  extends About {
  /** As JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The schema with a name, if it has one. */
  readonly named?: z.ZodType;
  /** Returns the value that the text describes, or undefined when the text is invalid. */
  readonly read: (text: string) => T | undefined;
  /** Returns the text of a value in the link to the next page. Without it, the value is its own text. */
  write?(value: T): string;
  /** Characters of the longest text in that link, as a query holds it. */
  readonly longest: number;
  /** Set when the parameter may be repeated: reads all its texts, when there are several. */
  readonly readAll?: (texts: readonly string[]) => T | undefined;
  /** What the message says about an invalid text. */
  readonly issue: string;
  /** The value of a query parameter that is absent. */
  readonly absent: Absent;
  /** Set for the parameter that says where a page begins. */
  readonly isCursor?: true;
}

/** An integer in decimal with at most four digits. */
export function integer(
  bounds: { readonly minimum: number; readonly maximum: number; readonly default: number },
  about: About,
): Parameter<number, number> {
  const { minimum, maximum } = bounds;
  return {
    ...about,
    schema: { type: 'integer', format: 'int32', ...bounds },
    read(text) {
      const value = /^(?:0|[1-9]\d{0,3})$/.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    },
    longest: String(maximum).length,
    issue: `must be an integer from ${minimum} to ${maximum}`,
    absent: bounds.default,
  };
}

const INT64 = {
  schema: { type: 'integer', format: 'int64' },
  /** Characters of the longest in decimal. */
  longest: 20,
  issue: 'must be an integer of 64 bits',
  absent: undefined,
} as const;

/** An int64 in its one decimal spelling. */
export function int64(about: About): Parameter<bigint> {
  return { ...INT64, ...about, read: int64FromDecimal };
}

/** A filter that is on or off. Off is as absent, and links leave it out. */
export function flag(about: Pick<About, 'description'>): Parameter<boolean, boolean> {
  return {
    ...about,
    example: true,
    schema: { type: 'boolean', default: false },
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
    longest: 'true'.length,
    issue: 'must be true or false',
    absent: false,
  };
}

/** One to `most` int64: the parameter is repeated. */
export function int64List(most: number, about: About): Parameter<readonly bigint[]> {
  const readAll = (texts: readonly string[]) => {
    const values = texts.map(int64FromDecimal).filter((value) => value !== undefined);
    return values.length === texts.length && values.length <= most ? values : undefined;
  };
  return {
    ...about,
    schema: { type: 'array', items: INT64.schema, minItems: 1, maxItems: most },
    read: (text) => readAll([text]),
    readAll,
    longest: INT64.longest,
    issue: `${INT64.issue}, given at most ${most} times`,
    absent: undefined,
  };
}

/** An instant in Unix milliseconds. */
export function instant(about: About): Parameter<number> {
  return {
    ...about,
    schema: { type: 'string', format: 'date-time', maxLength: 64 },
    read: (text) => (text.length > 64 ? undefined : instantFromText(text)),
    write: textFromInstant,
    longest: encodeURIComponent(textFromInstant(0)).length,
    issue: `${NO_INSTANT} (in an address, write + as %2B)`,
    absent: undefined,
  };
}

/** One of these texts. */
export function choice<Option extends string>(
  options: readonly Option[],
  about: { readonly description: string; readonly example: Option },
): Parameter<Option> {
  return {
    ...about,
    schema: { type: 'string', enum: options },
    read: (text) => options.find((option) => option === text),
    longest: longestOf(options),
    issue: `must be one of ${options.join(', ')}`,
    absent: undefined,
  };
}

/** One of the values of an enum that has a name. */
export function oneOf<Option extends string>(
  named: z.ZodEnum<{ readonly [Name in Option]: Name }>,
  about: { readonly description: string; readonly example: NoInfer<Option> },
): Parameter<Option> {
  return { ...choice(named.options, about), named };
}

/** One to `most` of these texts: the parameter is repeated. */
export function choices<Option extends string>(
  options: readonly Option[],
  most: number,
  about: About,
): Parameter<readonly Option[]> {
  const readAll = (texts: readonly string[]) => {
    const values = options.filter((option) => texts.includes(option));
    return texts.length <= most && texts.every((text) => options.includes(text as Option))
      ? values
      : undefined;
  };
  return {
    ...about,
    schema: { type: 'array', items: { type: 'string', enum: options }, minItems: 1, maxItems: most },
    read: (text) => readAll([text]),
    readAll,
    longest: longestOf(options),
    issue: `must be one of ${options.join(', ')}, given at most ${most} times`,
    absent: undefined,
  };
}

/** The id of a row in a path: a positive safe integer; others are 404. */
export function rowId(description: string): Parameter<number> {
  const filter = rowFilter(description);
  return { ...filter, read: (text) => filter.read(text) || undefined };
}

/** The id of a row in a query. Out of range it is 0, which matches nothing. */
export function rowFilter(description: string, example = 1): Parameter<number> {
  return {
    ...INT64,
    description,
    example,
    read(text) {
      const id = int64FromDecimal(text);
      if (id === undefined) return undefined;
      return id > 0 && id <= Number.MAX_SAFE_INTEGER ? Number(id) : 0;
    },
  };
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
    longest: 9,
    issue: 'must be a whole number of seconds with at most 9 digits',
    absent: undefined,
  };
}

/** A query parameter with a short text. */
export function shortText(most: number, about: { description: string; example: string }): Parameter<string> {
  return {
    ...about,
    schema: { type: 'string', maxLength: most },
    read: (text) => (text.length <= most && !text.includes('\0') ? text : undefined),
    longest: most * ENCODED,
    issue: `must have at most ${most} characters`,
    absent: undefined,
  };
}

/** A query parameter with a text of 1 to `most` characters. */
export function wholeText(
  most: number,
  about: { readonly description: string; readonly example: string },
): Parameter<string> {
  return {
    ...about,
    schema: { type: 'string', minLength: 1, maxLength: most, pattern: '^[^\\u0000]*$' },
    // The length is in code points, as in JSON Schema.
    read(text) {
      const isValid =
        text !== '' && !text.includes('\0') && Array.from(text.slice(0, 2 * most + 1)).length <= most;
      return isValid ? text : undefined;
    },
    longest: most * ENCODED_POINT,
    issue: `must have 1 to ${most} characters`,
    absent: undefined,
  };
}

const CURSOR = {
  description: 'Where the page begins. Opaque: follow the `Link` header of the page before.',
  issue: 'must come from the Link header of a list',
  absent: undefined,
  isCursor: true,
} as const;

const cursorSchema = (maxLength: number) => ({ type: 'string', pattern: '^[A-Za-z0-9_-]+$', maxLength });

/** Where a page of a list in the order of ids begins. */
export const cursor: Parameter<bigint> = {
  ...CURSOR,
  example: encodeCursor(42n),
  schema: cursorSchema(64),
  read: decodeCursor,
  write: encodeCursor,
  longest: encodeCursor(42n).length,
};

/** A value of a cursor: its text and its range, checked like a parameter. No text has a point. */
export interface CursorValue<T> {
  /** Returns the value, or undefined for a text that no cursor of the service has. */
  readonly read: (text: string) => T | undefined;
  readonly isOptional?: true;
}

/** An instant in Unix milliseconds. */
export const cursorInstant: CursorValue<number> = { read: wholeNumber(0, LAST_INSTANT) };

export const cursorRowId: CursorValue<number> = { read: wholeNumber(1) };

/** A number of things, or the negative one in a list that is sorted by it. */
export const cursorCount: CursorValue<number> = { read: wholeNumber(-Number.MAX_SAFE_INTEGER) };

/** A place among events. */
export const cursorInt64: CursorValue<bigint> = {
  read(text) {
    const value = int64FromDecimal(text);
    return value === undefined || value < 0n ? undefined : value;
  },
};

export function cursorText(pattern: RegExp): CursorValue<string> {
  return { read: (text) => (pattern.test(text) ? text : undefined) };
}

/** The id of an operation. */
export const cursorOperation = cursorText(/^[A-Za-z]{1,100}$/);

/** A value that may be absent. */
export function cursorOptional<T>({ read }: CursorValue<T>): CursorValue<T | undefined> {
  return { read, isOptional: true };
}

const LONGEST_CURSOR = 256;

/** The cursor of a list in another order: it holds these values, in their order. */
export function sortKeyCursor<K extends SortKey>(
  values: { readonly [Name in keyof K]: CursorValue<K[Name]> },
  example: K,
): Parameter<K> {
  const entries = Object.entries<CursorValue<SortKey[string]>>(values);
  const write = (key: K) => encodeCursor(entries.map(([name]) => String(key[name] ?? '')).join('.'));
  return {
    ...CURSOR,
    example: write(example),
    schema: cursorSchema(LONGEST_CURSOR),
    write,
    longest: LONGEST_CURSOR,
    read(text) {
      const parts = text.length > LONGEST_CURSOR ? undefined : decodeTextCursor(text)?.split('.');
      if (parts?.length !== entries.length) return undefined;
      const key: Record<string, SortKey[string]> = {};
      for (const [index, [name, { read, isOptional = false }]] of entries.entries()) {
        const part = parts[index] ?? '';
        if (isOptional && part === '') continue;
        const value = read(part);
        if (value === undefined) return undefined;
        key[name] = value;
      }
      return key as K;
    },
  };
}

/** Reads an integer in its one decimal spelling. */
function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER) {
  return (text: string): number | undefined => {
    const value = Number(int64FromDecimal(text) ?? Number.NaN);
    return value >= minimum && value <= maximum ? value : undefined;
  };
}

export type AnyParameter = Parameter<Value, Value | undefined>;

/** A parameter by its name. */
export type NamedParameter = readonly [name: string, parameter: AnyParameter];

/** The values of a query without parameters. */
export function absentValues(parameters: readonly NamedParameter[]): Record<string, Value | undefined> {
  return Object.fromEntries(parameters.map(([name, { absent }]) => [name, absent]));
}

/** The parameters of an operation. */
export interface ParameterSet {
  readonly inPath: readonly NamedParameter[];
  readonly inQuery: readonly NamedParameter[];
  /** The values of a request without parameters. */
  readonly absent: Values;
}

/** The values of the path and of the query, or undefined when the path names nothing that can exist. */
export function readValues(
  { inPath, inQuery, absent }: ParameterSet,
  texts: readonly string[],
  query: string,
): Values | undefined {
  if (query === '' && inPath.length === 0) return absent;
  const values: Record<string, Value | undefined> = { ...absent };
  for (let index = 0; index < inPath.length; index++) {
    const [name, parameter] = inPath[index] as NamedParameter;
    const value = parameter.read(texts[index] ?? '');
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return readQuery(query, inQuery, values);
}

/**
 * Sets the values of the query parameters in `values`, which holds those that are absent. Unknown parameters are ignored.
 * @throws ServiceError `invalid_parameter`, naming the parameter.
 */
export function readQuery(
  query: string,
  parameters: readonly NamedParameter[],
  values: Record<string, Value | undefined> = absentValues(parameters),
): Values {
  const texts: (string | undefined)[] = [];
  // All texts of a parameter that was repeated.
  let repeated: string[][] | undefined;
  const take = (name: string, text: string | undefined) => {
    let index = 0;
    while (index < parameters.length && parameters[index]?.[0] !== name) index++;
    if (index === parameters.length) return;
    if (text === undefined) throw invalid(describeIssue(name, 'must be percent-encoded UTF-8'));
    const first = texts[index];
    if (first === undefined) {
      texts[index] = text;
      return;
    }
    if (parameters[index]?.[1].readAll === undefined)
      throw invalid(`The parameter ${name} must not be repeated.`);
    repeated ??= [];
    (repeated[index] ??= [first]).push(text);
  };
  forEachPair(query, take);
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index];
    if (text === undefined) continue;
    const [name, { read, readAll, issue }] = parameters[index] as NamedParameter;
    const all = repeated?.[index];
    const value = all === undefined ? read(text) : readAll?.(all);
    if (value === undefined) throw invalid(describeIssue(name, issue));
    values[name] = value;
  }
  return values;
}

/** `take` gets undefined for a text that is no percent-encoded UTF-8. */
function forEachPair(query: string, take: (name: string, text: string | undefined) => void): void {
  if (query === '') return;
  // Most queries need no decoding, which saves a part of every list.
  const isEncoded = /[%+]/.test(query);
  for (let start = 0; start <= query.length; ) {
    const next = query.indexOf('&', start);
    const end = next === -1 ? query.length : next;
    const equals = query.indexOf('=', start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const name = query.slice(start, nameEnd);
    const text = query.slice(nameEnd + 1, end);
    if (isEncoded) take(decode(name) ?? name, decode(text));
    else take(name, text);
    start = end + 1;
  }
}

/** A part of a query, in which `+` is a space. Undefined when its percent-encoding is broken. */
function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** The message about an invalid value of the parameter `name`. */
export function describeIssue(name: string, issue: string): string {
  return `The parameter ${name} ${issue}.`;
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_parameter', message);
}
