// Contract: sections 3, 4 and 9.
import type { z } from 'zod';
import type { KeyRecord, Scope } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
import { ERROR_CODES, type ErrorCode } from '../domain/errors.ts';
import type { Patch } from '../domain/patch.ts';
import type { Answer, Idempotency, Outcome, Refusal } from '../domain/ports.ts';
import type { AnyParameter, Named, Parameter, Values } from './parameters.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** How stable an operation is. Without it, the operation only changes compatibly. */
export type Stability = 'experimental' | 'beta';

export interface Deprecation {
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds: from this instant on the operation answers 410. */
  readonly removal: number;
  /** The path of the operation that replaces it. Its method is GET. */
  readonly successor: string;
}

export interface Example {
  readonly summary: string;
  readonly value: unknown;
}

type Examples = Readonly<Record<string, Example>>;

export type Parameters = Readonly<Record<string, AnyParameter>>;

/** The values of a valid request. */
interface Content<Parsed = Values, Body = unknown> {
  readonly parameters: Parsed;
  readonly body: Body;
}

/** What an operation knows about the request of a key, besides its values. */
interface OfKey {
  readonly key: KeyRecord;
  /** The account of the key. */
  readonly accountId: number;
  /** The key as the author of a change, with the address of the client. */
  readonly author: () => Author;
  /** The entity tags of `If-Match`, of which `isCurrent` wants one; undefined when the request has no such header. */
  readonly ifMatch: readonly string[] | undefined;
  /** Set when the request carries an `Idempotency-Key`. */
  readonly idempotency: Idempotency | undefined;
}

/** A request that is authenticated, admitted and valid. */
export interface Call extends OfKey, Content {}

export interface Success<Status extends number = number>
  extends Omit<Answer<Status>, 'location'>,
    Partial<Pick<Answer, 'location'>> {
  /** What the body was made of, if the store may give it again. It keeps its response, which is written only once. */
  readonly source?: { response?: object | undefined } | undefined;
  /** The id after which the next page begins, if there is one. */
  readonly next?: bigint | undefined;
  readonly isReplay?: boolean;
}

export interface Failure<Code extends ErrorCode = ErrorCode> {
  readonly error: Code;
  /** Without it, the answer has the message that the operation declares for the code. */
  readonly message?: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** The body of an answer. */
interface AnswerBody {
  readonly schema: z.ZodType;
  readonly examples: Examples;
}

/**
 * How any operation is declared: a schema is the type, the check and the description of its values at once. `Its` is what
 * it knows about the request besides its values. It can answer with `Implied` without declaring these codes.
 */
export interface AnyDeclaration<
  M extends Method,
  Path extends string,
  P extends Parameters,
  Body extends z.ZodObject,
  Status extends number,
  Code extends ErrorCode,
  Needs,
  Its,
  Implied extends ErrorCode,
> {
  readonly id: string;
  readonly method: M;
  /** Below the base address: `/pets/{petId}`. */
  readonly path: Path;
  readonly summary: string;
  readonly description: string;
  /** The parameters of the path, and the query parameters. */
  readonly parameters: P & Readonly<Record<PathNames<Path>, AnyParameter>>;
  readonly body?: { readonly schema: Body; readonly description: string; readonly examples: Examples };
  readonly answers: Readonly<Record<Status, { readonly description: string; readonly content?: AnswerBody }>>;
  /** The codes that this operation answers with besides those of `errorCodes`, each with its message. */
  readonly errors: Readonly<Record<Code, string>> &
    ([PathNames<Path>] extends [never] ? unknown : { readonly not_found: string });
  handle(
    call: Its & Content<ValuesOf<P, Path>, M extends 'PATCH' ? Patch<z.output<Body>> : z.output<Body>>,
    stores: Needs,
  ): Promise<Success<NoInfer<Status>> | Failure<NoInfer<Code> | Implied>>;
}

/** How an operation of the API is declared. */
interface Declaration<
  M extends Method,
  Path extends string,
  P extends Parameters,
  Body extends z.ZodObject,
  Status extends number,
  Code extends ErrorCode,
  Needs,
> extends AnyDeclaration<M, Path, P, Body, Status, Code, Needs, OfKey, CodeOf<M>> {
  /** The scope that the key needs. Without it, any key may call the operation. */
  readonly scope?: Scope;
  /** The heading of the page of the guide that explains more. */
  readonly guide?: string;
  readonly stability?: Stability;
  readonly deprecated?: Deprecation;
  /** For the code samples: the method of the client, and the query. */
  readonly sample: { readonly client: string; readonly query?: Readonly<Record<string, string | number>> };
}

/** `petId` of `/pets/{petId}`. */
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never;

type ValuesOf<P extends Parameters, Path> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer Its, infer Absent>
    ? Its | (Name extends PathNames<Path> ? never : Absent)
    : never;
};

/** The codes that every operation of a method can answer with. */
type CodeOf<M extends Method> = M extends 'POST'
  ? IdempotencyCode
  : M extends 'PATCH'
    ? 'invalid_request'
    : never;

type IdempotencyCode = 'conflict' | 'idempotency_key_reused';

/** A declared operation, as everything that is derived from it sees it. `Needs` are the stores that it uses. */
export interface Operation<Needs = never>
  extends Omit<
    Declaration<Method, string, Parameters, z.ZodObject, number, ErrorCode, Needs>,
    'parameters' | 'errors' | 'handle'
  > {
  readonly parameters: Parameters;
  readonly errors: Readonly<Partial<Record<ErrorCode, string>>>;
  handle(call: Call, stores: Needs): Promise<Success | Failure>;
}

/** The operations on one kind of thing. */
export interface Resource<Needs = never> {
  /** The group of the reference. */
  readonly name: string;
  readonly description: string;
  /** The schemas that have a name, each with an example. */
  readonly schemas: readonly { readonly schema: z.ZodType; readonly example: unknown }[];
  readonly operations: readonly Operation<Needs>[];
}

/**
 * Declares an operation. `handle` gets parsed values, and it can only give answers and error codes that are declared
 * here. For a GET, the service adds HEAD, `ETag` and 304; for a POST, it adds `Idempotency-Key`.
 */
export function operation<
  const M extends Method,
  const Path extends string,
  const P extends Parameters,
  const Status extends number,
  const Code extends ErrorCode = never,
  Body extends z.ZodObject = z.ZodObject,
  Needs = unknown,
>(declaration: Declaration<M, Path, P, Body, Status, Code, Needs>): Operation<Needs> {
  return declaration;
}

export const KEY_REUSED = {
  error: 'idempotency_key_reused',
  message: 'This Idempotency-Key was used for another request: send a new one.',
} as const satisfies Failure;

/** The message of a 412. It is true for a tag that is out of date, malformed or of other content. */
export function otherTag(content: 'animal' | 'category' | 'order'): string {
  return `If-Match does not name the ETag of the ${content} as it is now: read it again, and send its new ETag.`;
}

export const KEY_IN_FLIGHT = {
  error: 'conflict',
  message: 'The first request with this Idempotency-Key is in flight: try again later.',
  retryAfter: 1,
} as const satisfies Failure;

/** The answer to a write that clients may send again. */
export function answerOf<Status extends number, Code extends ErrorCode>(
  outcome: Outcome<Status, Code>,
): Success<Status> | Failure<IdempotencyCode | Code> {
  if (outcome.outcome === 'refused') return { error: outcome.refused };
  if (outcome.outcome === 'reused') return KEY_REUSED;
  if (outcome.outcome === 'in_flight') return KEY_IN_FLIGHT;
  return { ...outcome.answer, isReplay: outcome.outcome === 'replayed' };
}

/** The answer to a write that was done or refused. `fault` is the message about a body that is refused. */
export function resultOf<Status extends number, Code extends ErrorCode>(
  result: Answer<Status> | Refusal<Code>,
  fault?: string,
): Success<Status> | Failure<Code> {
  if (!('refused' in result)) return result;
  const { refused: error } = result;
  return error === 'invalid_request' && fault !== undefined ? { error, message: fault } : { error };
}

/** What every operation can answer. */
const COMMON: readonly ErrorCode[] = [
  'unauthorized',
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'key_banned',
  'internal_error',
  'unavailable',
];

/** Every error code that an operation can answer with, in the order of `ERROR_CODES`. */
export function errorCodes(its: Operation): ErrorCode[] {
  const codes = new Set<string>([...COMMON, ...Object.keys(its.errors)]);
  if (its.scope !== undefined) codes.add('insufficient_scope');
  if (its.method === 'POST') for (const code of ['conflict', 'idempotency_key_reused']) codes.add(code);
  // A DELETE takes no body.
  if (its.method === 'DELETE') codes.add('invalid_request');
  if (its.method === 'POST' || queryParameters(its).length > 0) codes.add('invalid_parameter');
  if (its.body !== undefined)
    for (const code of ['invalid_request', 'payload_too_large', 'unsupported_media_type']) codes.add(code);
  if (its.deprecated !== undefined) codes.add('gone');
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** The names in a path, in their order. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The parameters that are not in the path. */
export function queryParameters({ path, parameters }: Operation): Named[] {
  const inPath = pathNames(path);
  return Object.entries(parameters).filter(([name]) => !inPath.includes(name));
}

/** The date of a removal as the description shows it: `2030-12-05`. */
export function sunsetDate({ removal }: Deprecation): string {
  return new Date(removal).toISOString().slice(0, 10);
}
