import { type CallOptions, checkCallOptions, newIdempotencyKey } from './call-options.ts';
import type { Answer } from './exchange.ts';
import { checkObject, describeValue } from './checks.ts';
import { integerText, objectText } from './json.ts';
import { type OperationId, OPERATIONS } from './operations.ts';
import type { Int64 } from './schema.ts';

/** One call of an operation. */
export interface Call<Result> {
  readonly operation: OperationId;
  /** The values of the path's parameters, by name. */
  readonly path?: Readonly<Record<string, Int64>>;
  /** The query as the caller gave it. Undefined values are left out. */
  readonly query?: object;
  /** The argument that is sent as JSON, with its name for messages. */
  readonly body?: readonly [argument: string, fields: object];
  readonly options: CallOptions;
  /** Reads a 2xx answer. Throws when the answer is incomplete. */
  readonly read: (answer: Answer) => Result;
  /** Returns the result of a retry that gets 404, because an earlier try may have removed the thing already. */
  readonly removed?: () => Result;
}

/** A call as HTTP. Every try of a call sends the same. */
export interface CallRequest {
  /** Path and query, below the base address. */
  readonly target: string;
  readonly init: RequestInit & { readonly method: string; readonly headers: Headers };
}

/**
 * The request of a call.
 * @throws TypeError or RangeError when an argument or option is wrong, so that nothing is sent.
 */
export function toRequest<Result>(call: Call<Result>, apiKey: string): CallRequest {
  const { operation, options } = call;
  const { method } = OPERATIONS[operation];
  const { idempotencyKey, ifMatch } = checkCallOptions(options, method);
  const body = call.body && objectText(...call.body);
  const headers = new Headers({ Accept: 'application/json', Authorization: `Bearer ${apiKey}` });
  if (body !== undefined)
    headers.set('Content-Type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
  if (method === 'POST') headers.set('Idempotency-Key', idempotencyKey ?? newIdempotencyKey());
  if (ifMatch !== undefined) headers.set('If-Match', ifMatch);
  return { target: target(call), init: { method, headers, ...(body !== undefined && { body }) } };
}

function target<Result>({ operation, path = {}, query = {} }: Call<Result>): string {
  const declared = OPERATIONS[operation];
  const kinds: Readonly<Record<string, Kind>> = declared.query;
  const filled = declared.path.replace(/\{(\w+)\}/g, (_, name: string) => integerText(name, path[name]));
  checkObject('query', query);
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (!Object.hasOwn(kinds, name)) {
      const names = Object.keys(kinds).join(', ');
      throw new TypeError(`There is no parameter "${name}". The parameters are ${names}.`);
    }
    if (value === undefined) continue;
    for (const text of texts(name, value, kinds[name])) parameters.append(name, text);
  }
  const search = parameters.toString();
  return search === '' ? filled : `${filled}?${search}`;
}

/** What a query parameter takes. */
type Kind = 'string' | 'integer' | 'boolean' | 'integers' | 'strings';

function texts(name: string, value: unknown, kind: Kind | undefined): readonly string[] {
  if (kind === 'integer') return [integerText(name, value)];
  if (kind === 'integers' || kind === 'strings') {
    if (!Array.isArray(value))
      throw new TypeError(`${name} must be an array, but ${describeValue(value)} was given.`);
    // Without a value there would be no filter at all.
    if (value.length === 0) throw new RangeError(`${name} must have at least one value.`);
    return value.flatMap((each) => texts(name, each, kind === 'integers' ? 'integer' : 'string'));
  }
  if (kind === 'boolean') {
    if (typeof value !== 'boolean')
      throw new TypeError(`${name} must be true or false, but ${describeValue(value)} was given.`);
    return [String(value)];
  }
  if (typeof value !== 'string')
    throw new TypeError(`${name} must be a string, but ${describeValue(value)} was given.`);
  return [value];
}
