import assert from 'node:assert/strict';
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
export const LONG = ['a'.repeat(1_000), 'a'.repeat(12_000), '9'.repeat(12_000)];

/** As a query or a path holds them. The last ones are no texts in UTF-8, or no encoding. */
const ANY_VALUE = [
  ...[...NUMBERS, ...INSTANTS, ...TEXTS, ...LONG].map(encodeURIComponent),
  '%ff',
  '%ed%a0%80',
  '%',
  '%zz',
  '+',
];

export type Schema = Readonly<Record<string, any>>;

/** The ends of a schema and one beyond each, as texts. */
function endsOf(schema: AnyParameter['schema']): readonly string[] {
  const { minimum, maximum, maxLength, enum: options = [] } = schema as Schema;
  return [
    ...[minimum, maximum].flatMap((end) => (end === undefined ? [] : [end - 1, end, end + 1])),
    ...(maxLength === undefined ? [] : ['a'.repeat(maxLength), 'a'.repeat(maxLength + 1)]),
    ...options,
  ].map((end) => encodeURIComponent(String(end)));
}

export const exampleOf = ({ example }: AnyParameter): string =>
  encodeURIComponent(String(Array.isArray(example) ? example[0] : example));

/** The path of an operation, with the examples of its parameters or other values. */
export function fill({ path, parameters }: Operation, values: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return values[name] ?? exampleOf(parameters[name] as AnyParameter);
  });
}

/** A body that the operation takes. */
export function exampleBody({ body }: Operation): string | undefined {
  const [example] = Object.values(body?.examples ?? {});
  if (example === undefined) return undefined;
  return JSON.stringify(example.value).replace('https://shop.example/petstore', EXAMPLE_ENDPOINT);
}

/** The schema of the body as JSON Schema, without references. */
export function bodySchema({ body }: Operation): Schema | undefined {
  if (body === undefined) return undefined;
  const { $defs, ...schema } = z.toJSONSchema(body.schema, { io: 'input', unrepresentable: 'any' });
  const resolve = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(resolve);
    if ('$ref' in value) return resolve($defs?.[String(value.$ref).replace('#/$defs/', '')]);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member)]));
  };
  return resolve(schema) as Schema;
}

/** The fields of the body. */
function fieldsOf(operation: Operation): Readonly<Record<string, Schema>> {
  const schema = bodySchema(operation);
  if (schema === undefined) return {};
  assert.ok(schema['properties']);
  return schema['properties'];
}

function withBody(operation: Operation, attempt: Omit<Attempt, 'method'>): Attempt {
  const body = attempt.body ?? exampleBody(operation);
  return { method: operation.method, ...attempt, ...(body !== undefined && { body }) };
}

/** A request that the operation takes. */
export const exampleRequest = (operation: Operation): Attempt =>
  withBody(operation, { path: fill(operation) });

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

export function valuesOf(parameter: AnyParameter): readonly string[] {
  return [exampleOf(parameter), ...ANY_VALUE, ...endsOf(parameter.schema)];
}

export const READ_HEADERS = {
  GET: ['If-None-Match', 'X-Request-Id'],
  POST: ['Idempotency-Key', 'X-Request-Id'],
  PATCH: ['If-Match', 'X-Request-Id'],
  DELETE: ['If-Match', 'X-Request-Id'],
} as const;

/** Values of a header that the service reads: at its ends and beyond, and of other kinds. */
export function headerValues(name: keyof typeof REQUEST_HEADERS): readonly string[] {
  const values = ['', ' ', '*', '1', 'é', 'W/"x"', '"x", '.repeat(2_000), ...NUMBERS.slice(-8), ...LONG];
  const { maxLength, example } = REQUEST_HEADERS[name];
  return [...values, example, 'a'.repeat(maxLength), 'a'.repeat(maxLength + 1)];
}

/** The headers that the operation reads. */
export function* headerAttempts(operation: Operation): Generator<Attempt> {
  for (const name of READ_HEADERS[operation.method])
    for (const value of headerValues(name))
      yield withBody(operation, { path: fill(operation), headers: { [name]: value } });
}

/** Cursors with a right checksum that hold what `cursor` holds with other values. */
export function* cursorsLike(cursor: string): Generator<string> {
  for (const id of [-1n, 0n, 1n, 2n ** 53n, INT64_MAX, INT64_MIN]) yield encodeCursor(id);
  for (const text of [...LONG, ...INSTANTS]) yield encodeCursor(text);
  yield cursor.slice(1);
  yield `${cursor}A`;
  if (decodeCursor(cursor) !== undefined) return;
  const parts = (decodeTextCursor(cursor) ?? '').split('.');
  const changed = parts.flatMap((_, index) =>
    [...NUMBERS, ...TEXTS, ...BEYOND_INSTANTS].map((value) => parts.with(index, value)),
  );
  for (const value of NUMBERS) changed.push(parts.map(() => value));
  changed.push([...parts, '1'], parts.slice(1), parts.toReversed());
  for (const each of changed) yield encodeCursor(each.join('.'));
}

/** The name of the parameter that says where a page begins, if the operation has one. */
export function cursorName(operation: Operation): string | undefined {
  return queryParameters(operation).find(([, { isCursor }]) => isCursor)?.[0];
}

/** JSON of any kind. The numbers are no JavaScript numbers. */
export const ANY_JSON = [
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
  for (const [name, property] of Object.entries(fieldsOf(operation))) {
    const { minimum, maximum, maxLength, maxItems, items } = property;
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

/* As much wrong as the size of a request allows. */

/** Repeats a text until `length` bytes are full. */
function repeatTo(length: number, part: string): string {
  return part.repeat(Math.max(1, Math.floor(length / Buffer.byteLength(part))));
}

function numbered(length: number, part: (index: number) => string): string {
  return Array.from({ length: Math.floor(length / (part(9_999).length + 1)) }, (_, index) =>
    part(index),
  ).join();
}

/** Values of JSON of at most `length` bytes that no field takes. */
function wrongJson(length: number): readonly string[] {
  const room = length - 4;
  const half = Math.floor(room / 2);
  const lists = ['1', 'null', '""', '[]', '{}', '"pets:read"', '"pet.created"', '"\\u0000"', '1e99'];
  const texts = ['x', '\\u0000', '\\ud800', '\\n', '🐕', 'é', 'İ', '﷽', '٣', '\u202e', ' '];
  return [
    ...lists.map((item) => `[${repeatTo(room - item.length, `${item},`)}${item}]`),
    `[${numbered(room, (index) => `"${index}"`)}]`,
    `${'['.repeat(half)}${']'.repeat(half)}`,
    `${'[[1],'.repeat(Math.floor(room / 7))}1${']'.repeat(Math.floor(room / 7))}`,
    ...texts.map((part) => `"${repeatTo(room, part)}"`),
    `"https://${repeatTo(room - 8, 'a.')}"`,
    '9'.repeat(room),
    `-${'9'.repeat(room)}`,
    `0.${'9'.repeat(room - 2)}`,
    `1e${'9'.repeat(room - 2)}`,
    `1${'0'.repeat(room - 1)}`,
  ];
}

/** Objects of JSON of at most `length` bytes. A field that is an object takes some of them. */
function fullObjects(length: number): readonly string[] {
  const room = length - 4;
  return [
    `{${numbered(room, (index) => `"${index}":0`)}}`,
    `{${numbered(room, () => '"a":0')}}`,
    `{${numbered(room, () => '"__proto__":0')}}`,
    `{"${'x'.repeat(room - 5)}":0}`,
    `${'{"a":'.repeat(Math.floor(room / 6))}1${'}'.repeat(Math.floor(room / 6))}`,
  ];
}

/** A body in which the field at `path` is `json`. */
function withField(
  body: Readonly<Record<string, unknown>>,
  [name = '', ...rest]: readonly string[],
  json: string,
): string {
  const inner = body[name];
  const isObject = typeof inner === 'object' && inner !== null;
  const value =
    rest.length === 0 ? json : withField(isObject ? (inner as Record<string, unknown>) : {}, rest, json);
  const others = JSON.stringify({ ...body, [name]: undefined }).slice(1, -1);
  return `{${others}${others === '' ? '' : ','}${JSON.stringify(name)}:${value}}`;
}

/** The fields of a body and of the objects in it. */
function* placesOf(
  fields: Readonly<Record<string, Schema>>,
  path: readonly string[] = [],
): Generator<[string[], Schema]> {
  for (const [name, field] of Object.entries(fields)) {
    yield [[...path, name], field];
    yield* placesOf(field['properties'] ?? {}, [...path, name]);
  }
}

function exampleFields(operation: Operation): Readonly<Record<string, unknown>> {
  return JSON.parse(exampleBody(operation) ?? '{}') as Record<string, unknown>;
}

/** The fields of a body that are lists without an end. */
export function endlessLists(operation: Operation): string[] {
  return [...placesOf(fieldsOf(operation))]
    .filter(([, { type, maxItems }]) => type === 'array' && maxItems === undefined)
    .map(([path]) => path.join('.'));
}

/** Bodies that the operation refuses: each field alone, all fields at once, and other bodies. */
export function* wrongBodies(operation: Operation): Generator<Attempt> {
  const { body, method } = operation;
  const path = fill(operation);
  if (body === undefined) {
    if (method === 'DELETE') yield { method, path, body: `[${'1,'.repeat(8_000)}1]` };
    return;
  }
  const example = exampleFields(operation);
  const { limit } = body;
  const room = limit - Buffer.byteLength(JSON.stringify(example)) - 200;
  const fields = fieldsOf(operation);
  for (const [field, { type }] of placesOf(fields))
    for (const json of [...wrongJson(room), ...(type === 'object' ? [] : fullObjects(room))])
      yield { method, path, body: withField(example, field, json) };
  const names = Object.keys(fields);
  const share = Math.floor(limit / (names.length + 1)) - 100;
  for (const json of [...wrongJson(share), ...fullObjects(share)])
    yield { method, path, body: `{${names.map((name) => `${JSON.stringify(name)}:${json}`).join()}}` };
  for (const whole of wrongJson(limit)) yield { method, path, body: whole };
}

/** Bodies of unknown fields, which the operation may take. */
export function* unknownFields(operation: Operation): Generator<Attempt> {
  const { body, method } = operation;
  if (body === undefined || Object.keys(exampleFields(operation)).length === 0) return;
  for (const object of fullObjects(body.limit)) yield { method, path: fill(operation), body: object };
}

/** Bytes of a header block with room for the rest of the request. */
const BLOCK = 15_000;

/** Texts for a path or a query of at most `length` bytes that no parameter takes. */
function fullTexts(length: number): readonly string[] {
  return ['x', '9', '-', '%F0%9F%90%95', '%00', '%2F', '%22', 'a.', '+', '%C4%B0'].map((part) =>
    repeatTo(length, part),
  );
}

/** Parameters that the operation refuses, or passes over. */
export function* wrongParameters(operation: Operation): Generator<Attempt> {
  const { method, parameters } = operation;
  for (const name of pathNames(operation.path))
    for (const text of fullTexts(BLOCK)) yield { method, path: fill(operation, { [name]: text }) };
  if (method !== 'GET') return;
  const path = fill(operation);
  for (const [name] of queryParameters(operation)) {
    for (const text of fullTexts(BLOCK)) yield { method, path: `${path}?${name}=${text}` };
    const value = exampleOf(parameters[name] as AnyParameter);
    for (const each of [value, 'x']) yield { method, path: `${path}?${repeatTo(BLOCK, `${name}=${each}&`)}` };
  }
  yield { method, path: `${path}?${repeatTo(BLOCK, 'a=1&')}` };
}

/** Headers that any request may have. */
const ANY_HEADERS = [
  'Accept',
  'Cookie',
  'Origin',
  'Referer',
  'User-Agent',
  'X-Forwarded-For',
  'Expect',
  'Host',
];

/** Requests with one long header. Those that would change something have a wrong body, too. */
export function* wrongHeaders(operation: Operation): Generator<Attempt> {
  const { method, body } = operation;
  const values = ['x', '"x", ', 'ÿ', '9', '203.0.113.177, '].map((part) => repeatTo(BLOCK / 2, part));
  const path = fill(operation);
  const always = body === undefined ? undefined : '[';
  if (method !== 'GET' && always === undefined) return;
  for (const name of [...Object.keys(REQUEST_HEADERS), ...ANY_HEADERS, 'Authorization', 'Content-Type'])
    for (const value of values)
      yield {
        method,
        path,
        headers: { [name.toLowerCase()]: value },
        ...(always !== undefined && { body: always }),
      };
}
