import { z } from 'zod';
import { decodeCursor, decodeTextCursor, encodeCursor } from '../../src/domain/cursor.ts';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { type Operation, pathNames, queryParameters } from '../../src/http/operation.ts';
import type { AnyParameter, NamedParameter } from '../../src/http/parameters.ts';
import { REQUEST_HEADERS } from '../../src/http/request-headers.ts';
import { EXAMPLE_ENDPOINT } from './example-database.ts';

/*
 * Requests with values at the ends of what there is and beyond, from the declarations of operations. A new operation, parameter
 * or field is tried without a new test.
 */

/** A request below the base address of an API. */
export interface Attempt {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export const NUMBERS = [
  '-1',
  '0',
  '1',
  '2147483647',
  '2147483648',
  `${Number.MAX_SAFE_INTEGER}`,
  `${Number.MAX_SAFE_INTEGER + 1}`,
  `${INT64_MAX}`,
  `${INT64_MAX + 1n}`,
  `${INT64_MIN}`,
  `${INT64_MIN - 1n}`,
  '9'.repeat(19),
  '9'.repeat(20),
  `1${'0'.repeat(400)}`,
  '1.5',
  '1e3',
  '1e400',
  '0x10',
  '007',
  'NaN',
  'Infinity',
];

export const INSTANTS = [
  '0000-01-01T00:00:00Z',
  '0000-01-01T00:00:00+23:59',
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '2026-11-20T00:00:00Z',
  '2026-11-20T00:00:00.000000000000000000001Z',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-23:59',
  '10000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-20T00:00:00.000Z',
];

/** Unix milliseconds around the last instant of a date-time, and of a Date. */
const BEYOND_INSTANTS = ['253402300799999', '253402300800000', '8640000000000000', '-8640000000000001'];

export const TEXTS = [
  '',
  ' ',
  'now',
  'null',
  '*',
  "'; DROP TABLE pets; --",
  '%',
  '_',
  '\u0000',
  'é',
  '🐕',
  '٣',
];

/** Long, but within the limits of a header block. */
const LONG = ['a'.repeat(1_000), 'a'.repeat(12_000), '9'.repeat(12_000)];

/** As a query or a path holds them. The last ones are no texts in UTF-8, or no encoding. */
const ANY_VALUE = [
  ...[...NUMBERS, ...INSTANTS, ...TEXTS, ...LONG].map(encodeURIComponent),
  '%ff',
  '%ed%a0%80',
  '%',
  '%zz',
  '+',
];

type Schema = Readonly<Record<string, any>>;

/** The ends of a schema and one beyond each, as texts. */
function endsOf(schema: AnyParameter['schema']): readonly string[] {
  if (typeof schema === 'string') return [];
  const { minimum, maximum, maxLength, enum: options = [] } = schema as Schema;
  return [
    ...[minimum, maximum].flatMap((end) => (end === undefined ? [] : [end - 1, end, end + 1])),
    ...(maxLength === undefined ? [] : ['a'.repeat(maxLength), 'a'.repeat(maxLength + 1)]),
    ...options,
  ].map((end) => encodeURIComponent(String(end)));
}

const exampleOf = ({ example }: AnyParameter): string =>
  encodeURIComponent(String(Array.isArray(example) ? example[0] : example));

/** The path of an operation, with the examples of its parameters or other values. */
function fill({ path, parameters }: Operation, values: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return values[name] ?? exampleOf(parameters[name] as AnyParameter);
  });
}

/** A body that the operation takes. */
function exampleBody({ body }: Operation): string | undefined {
  const [example] = Object.values(body?.examples ?? {});
  if (example === undefined) return undefined;
  return JSON.stringify(example.value).replace('https://shop.example/petstore', EXAMPLE_ENDPOINT);
}

function withBody(operation: Operation, attempt: Omit<Attempt, 'method'>): Attempt {
  const body = attempt.body ?? exampleBody(operation);
  return { method: operation.method, ...attempt, ...(body !== undefined && { body }) };
}

export const withQuery = (operation: Operation, query: string): Attempt =>
  withBody(operation, { path: `${fill(operation)}?${query}` });

/** The same with HEAD, which never waits. */
export const headOf = (attempt: Attempt): Attempt => ({ ...attempt, method: 'HEAD' });

/** Each parameter of the path alone, at its ends and beyond, and of other kinds. */
export function* pathAttempts(operation: Operation): Generator<Attempt> {
  for (const name of pathNames(operation.path))
    for (const value of valuesOf(operation.parameters[name] as AnyParameter))
      if (value !== '') yield withBody(operation, { path: fill(operation, { [name]: value }) });
}

/** Queries with a parameter alone: at its ends and beyond, empty, repeated, and of other kinds. */
export function* queriesOf([name, parameter]: NamedParameter): Generator<string> {
  for (const value of valuesOf(parameter)) yield `${name}=${value}`;
  const most = Number((parameter.schema as Schema)['maxItems'] ?? 1);
  for (const times of new Set([2, most, most + 1, 400]))
    yield Array<string>(times)
      .fill(`${name}=${exampleOf(parameter)}`)
      .join('&');
  yield name;
}

/** Queries of parameters that no operation has. */
export const UNKNOWN_PARAMETERS = [LONG.join('&'), 'a=1&'.repeat(3_000), 'limit[]=1&limit.x=1&limit%00=1'];

function valuesOf(parameter: AnyParameter): readonly string[] {
  return [exampleOf(parameter), ...ANY_VALUE, ...endsOf(parameter.schema)];
}

const READ_HEADERS = {
  GET: ['If-None-Match', 'X-Request-Id'],
  POST: ['Idempotency-Key', 'X-Request-Id'],
  PATCH: ['If-Match', 'X-Request-Id'],
  DELETE: ['If-Match', 'X-Request-Id'],
} as const;

/** The headers that the operation reads. */
export function* headerAttempts(operation: Operation): Generator<Attempt> {
  const values = ['', ' ', '*', '1', 'é', 'W/"x"', '"x", '.repeat(2_000), ...NUMBERS.slice(-8), ...LONG];
  for (const name of READ_HEADERS[operation.method]) {
    const { maxLength, example } = REQUEST_HEADERS[name];
    for (const value of [...values, example, 'a'.repeat(maxLength), 'a'.repeat(maxLength + 1)])
      yield withBody(operation, { path: fill(operation), headers: { [name]: value } });
  }
}

/** Cursors with a right checksum whose places are that of `cursor` with other values. */
export function* cursorsLike(cursor: string): Generator<string> {
  for (const id of [-1n, 0n, 1n, 2n ** 53n, INT64_MAX, INT64_MIN]) yield encodeCursor(id);
  for (const text of [...LONG, ...INSTANTS]) yield encodeCursor(text);
  yield cursor.slice(1);
  yield `${cursor}A`;
  if (decodeCursor(cursor) !== undefined) return;
  const parts = (decodeTextCursor(cursor) ?? '').split('.');
  const places = parts.flatMap((_, index) =>
    [...NUMBERS, ...TEXTS, ...BEYOND_INSTANTS].map((value) => parts.with(index, value)),
  );
  for (const value of NUMBERS) places.push(parts.map(() => value));
  places.push([...parts, '1'], parts.slice(1), parts.toReversed());
  for (const place of places) yield encodeCursor(place.join('.'));
}

/** The name of the parameter that says where a page begins, if the operation has one. */
export function placeName(operation: Operation): string | undefined {
  return queryParameters(operation).find(([, { isPlace }]) => isPlace)?.[0];
}

/** JSON of any kind. The numbers are no JavaScript numbers. */
const ANY_JSON = [
  ...NUMBERS.filter((text) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e\d+)?$/.test(text)),
  ...[...INSTANTS, ...TEXTS, ...LONG, ...NUMBERS].map((text) => JSON.stringify(text)),
  '"\\ud800"',
  'null',
  'true',
  '[]',
  '{}',
  '[[[[[[[[]]]]]]]]',
  `[${'1,'.repeat(5_000)}1]`,
  `["${'a'.repeat(12_000)}"]`,
];

/** Each field of the body alone, with values of any kind, and bodies that are none. */
export function* bodyAttempts(operation: Operation): Generator<Attempt> {
  const { body } = operation;
  if (body === undefined) return;
  const path = fill(operation);
  const example = JSON.parse(exampleBody(operation) ?? '{}') as Record<string, unknown>;
  const { properties = {} } = z.toJSONSchema(body.schema, { io: 'input', unrepresentable: 'any' });
  for (const [name, property] of Object.entries(properties)) {
    const { minimum, maximum, maxLength, maxItems, items } = property as Schema;
    const ends = [
      ...[minimum, maximum].flatMap((end) => (end === undefined ? [] : [end - 1, end, end + 1])),
      ...(maxLength === undefined
        ? []
        : ['x'.repeat(maxLength), '🐕'.repeat(maxLength), 'x'.repeat(maxLength + 1)]),
      ...(maxItems === undefined
        ? []
        : [maxItems, maxItems + 1].map((count) => Array(count).fill(items?.enum?.[0] ?? 'x'))),
    ].map((end) => JSON.stringify(end));
    for (const json of [...ANY_JSON, ...ends]) {
      const others = JSON.stringify({ ...example, [name]: undefined }).slice(1, -1);
      const sent = `{${others}${others === '' ? '' : ','}${JSON.stringify(name)}:${json}}`;
      yield withBody(operation, { path, body: sent });
    }
  }
  for (const whole of [
    ...ANY_JSON,
    '',
    '[',
    '['.repeat(8_000),
    '{"a":'.repeat(3_000),
    `${' '.repeat(16_384)}{}`,
    'x'.repeat(70_000),
  ])
    yield withBody(operation, { path, body: whole });
}
