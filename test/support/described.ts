// Contract: sections 3, 4 and 9.
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Description } from '../../src/description/openapi.ts';
import type { Header, Ref, Response, Schema } from '../../src/description/types.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/domain/errors.ts';
import { parseExactJson } from '../../src/domain/parse.ts';
import type { Operation } from '../../src/http/operation.ts';
import { ErrorBody } from '../../src/description/schemas.ts';

/** What came back, with the names of headers in lower case. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

type Described = Pick<Description, 'paths'> & {
  readonly components: Pick<Description['components'], 'headers'>;
};

/** What HTTP itself, browsers and their rules put on a response. */
const UNDESCRIBED = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'access-control-expose-headers',
  'cross-origin-resource-policy',
  'x-content-type-options',
  'x-frame-options',
]);

/** Headers that are there only when there is something to say. */
const SOMETIMES = new Set(['idempotent-replay', 'access-control-allow-origin', 'link', 'allow']);

/** On every response of a deprecated operation. An address that cannot be decoded is of no operation. */
const OF_OPERATION = new Set(['deprecation', 'sunset']);

/** A 409 says how long to wait only while a request with the same `Idempotency-Key` is in flight. */
const isSometimes = (name: string, status: number) =>
  SOMETIMES.has(name) ||
  (name === 'retry-after' && status === 409) ||
  (OF_OPERATION.has(name) && status >= 400);

/** A value of an answer as the schema of its declaration has it: every int64 is a bigint. Other integers are numbers. */
export function assertFits(schema: z.ZodType | undefined, json: unknown, message: string): void {
  const value = structuredClone(json);
  for (const { path } of schema?.safeParse(value).error?.issues ?? []) {
    const parent: any = path.slice(0, -1).reduce((inner: any, name) => inner[name], value);
    const name = path.at(-1) as string;
    if (typeof parent[name] === 'number') parent[name] = BigInt(parent[name]);
    else if (typeof parent[name] === 'bigint') parent[name] = Number(parent[name]);
  }
  assert.deepEqual(schema?.parse(value), value, message);
}

/** Checks responses against a description: their status, headers and body. */
export function checkerOf({ paths, components }: Described) {
  const schemas = new Map<Header, z.ZodType>();
  const headerOf = (described: Ref | Header): Header =>
    '$ref' in described
      ? (components.headers[described.$ref.split('/').at(-1) as never] as Header)
      : described;

  function checkHeader(name: string, described: Ref | Header, value: string): void {
    const header = headerOf(described);
    let schema = schemas.get(header);
    if (schema === undefined) {
      schema = z.fromJSONSchema(header.schema);
      schemas.set(header, schema);
    }
    const { type } = header.schema;
    const read = type === 'integer' ? Number(value) : type === 'boolean' ? value === 'true' : value;
    assert.ok(schema.safeParse(read).success, `${name}: ${value} is not as described`);
  }

  function checkHeaders(response: Response, { status, headers }: Received): void {
    const described = new Map(
      Object.entries(response.headers).map(([name, header]) => [name.toLowerCase(), header]),
    );
    for (const name of described.keys())
      assert.ok(headers[name] !== undefined || isSometimes(name, status), `${name} is missing`);
    for (const [name, value] of Object.entries(headers)) {
      if (UNDESCRIBED.has(name)) continue;
      const header = described.get(name);
      assert.ok(header, `${name} is not described`);
      checkHeader(name, header, value ?? '');
    }
  }

  /** The response of a refusal: that of its status if it has the code, else the one of any operation. */
  function refusalOf(responses: Readonly<Record<string, Response>>, status: number, code: ErrorCode) {
    const own = responses[status];
    const schema = own?.content?.['application/json'].schema as Schema | undefined;
    const codes = (schema?.properties as { code?: { enum?: readonly ErrorCode[] } } | undefined)?.code?.enum;
    if (own !== undefined && codes?.includes(code) === true) return own;
    const other = responses['default'];
    assert.ok(other?.content?.['application/json'].examples[`status_${status}`], `${status} ${code}`);
    return other;
  }

  return (operation: Operation, method: string, received: Received): void => {
    const { status, text, headers } = received;
    const responses = paths[operation.path]?.[operation.method.toLowerCase()]?.responses;
    assert.ok(responses);
    const isBare = method === 'HEAD' || status === 204 || status === 304;
    if (isBare) assert.equal(text, '');
    else assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    if (status < 400) {
      const response = responses[status];
      assert.ok(response, `${status} is not described`);
      checkHeaders(response, received);
      const { content } = operation.answer;
      if (!isBare) assertFits(content?.schema, parseExactJson(text), 'The body is not as described.');
      return;
    }
    // HEAD has no code.
    if (isBare) {
      assert.ok(
        responses[status] ?? responses['default']?.content?.['application/json'].examples[`status_${status}`],
      );
      return;
    }
    const { code } = checkRefusal(received);
    checkHeaders(refusalOf(responses, status, code), received);
  };
}

/** The Error body, and nothing else in it. */
export function checkRefusal({ status, text, headers }: Received): { readonly code: ErrorCode } {
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  const body = ErrorBody.parse(JSON.parse(text));
  assert.equal(body.status, status);
  assert.ok(ERROR_CODES.includes(body.code));
  return body;
}
