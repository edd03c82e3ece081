// Contract: sections 3, 4, 9 and 10.2.
import type { z } from 'zod';
import type { KeyRecord, Scope } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { Operator, Role } from '../domain/operator.ts';
import type { Patch } from '../domain/patch.ts';
import type { Answer, Idempotency, Outcome, RefusedWrite } from '../domain/ports.ts';
import type { Failure } from '../domain/result.ts';
import type { AnyParameter, NamedParameter, Parameter, Values } from './parameters.ts';

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

export type Examples = Readonly<Record<string, Example>>;

export type Parameters = Readonly<Record<string, AnyParameter>>;

interface Content {
  readonly schema: z.ZodType;
  readonly examples: Examples;
}

interface DeclaredAnswer {
  readonly description: string;
  readonly content?: Content;
  /** Set when the body holds a secret: then nothing may store the response. */
  readonly isSecret?: true;
}

export interface Success extends Omit<Answer, 'location'>, Partial<Pick<Answer, 'location'>> {
  /** The row of the store that the body shows. It keeps its response, so that the service writes it only once. */
  readonly source?: { response?: object | undefined } | undefined;
  /** The place after which the next page begins, if there is one: the id of an item, or a text of `placeCursor`. */
  readonly next?: bigint | string | undefined;
  readonly isReplay?: boolean;
}

/** A request that was let in, and is valid. */
export interface Call<P = Values, Body = unknown> {
  readonly parameters: P;
  readonly body: Body;
  /** Who changes something, with the address of the client. */
  readonly author: Author;
}

/** The request of a client with an API key. */
export interface ClientCall<P = Values, Body = unknown> extends Call<P, Body> {
  readonly key: KeyRecord;
  /** The account of the key. */
  readonly accountId: number;
  /** The entity tags of `If-Match`, for `isCurrent`. Undefined when the request has no such header. */
  readonly ifMatch: readonly string[] | undefined;
  /** Set when the request carries an `Idempotency-Key`. */
  readonly idempotency: Idempotency | undefined;
}

/** The request of an operator. */
export interface OperatorCall<P = Values, Body = unknown> extends Call<P, Body> {
  readonly operator: Operator;
}

/** What both kinds of operation declare. A schema is the type, the check and the description of its values. */
interface Common {
  readonly id: string;
  readonly method: Method;
  /** Below the base address: `/pets/{petId}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The parameters of the path, and the query parameters. */
  readonly parameters: Parameters;
  readonly body?: { readonly schema: z.ZodObject; readonly description: string; readonly examples: Examples };
  /** By status. */
  readonly answers: Readonly<Record<number, DeclaredAnswer>>;
  /** The codes that this operation answers with besides those of `errorCodes`, each with its message. */
  readonly errors: Readonly<Partial<Record<ErrorCode, string>>>;
}

interface ForClients {
  /** The scope that the key needs. Without it, any key may call the operation. */
  readonly scope?: Scope;
  readonly role?: never;
  /**
   * `holder`: requests count in windows of the account's holder, `HOLDER_LIMITS`. Neither a used-up plan nor a ban refuses them.
   * Without it, they count against the plan.
   */
  readonly allowance?: 'holder';
  /** The heading of the page of the guide that explains more. */
  readonly guide?: string;
  readonly stability?: Stability;
  readonly deprecated?: Deprecation;
  /** For the code samples: the method of the client, and the query. */
  readonly sample: { readonly client: string; readonly query?: Readonly<Record<string, string | number>> };
}

interface ForOperators {
  /** The role that the operator needs. An admin may do everything that a viewer may. */
  readonly role: Role;
  readonly scope?: never;
  readonly allowance?: never;
  readonly deprecated?: never;
}

/** An operation for clients. `Repositories` are those that it uses. */
export interface ClientOperation<Repositories = never> extends Common, ForClients {
  handle(call: never, repositories: Repositories): Promise<Success | Failure>;
}

/** An operation for operators. */
export interface OperatorOperation<Repositories = never> extends Common, ForOperators {
  handle(call: never, repositories: Repositories): Promise<Success | Failure>;
}

/** Anything that can be asked for. Everything else is derived from it: routes, checks, description, samples, metrics. */
export type Operation<Repositories = never> = ClientOperation<Repositories> | OperatorOperation<Repositories>;

/** `petId` of `/pets/{petId}`. */
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never;

type ValuesOf<P extends Parameters, Path> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer Value, infer Default>
    ? Value | (Name extends PathNames<Path> ? never : Default)
    : never;
};

/** What an operation declares beside `Common`, with the types of its values. */
interface Typed<Path extends string, P extends Parameters, Body extends z.ZodObject, Code extends ErrorCode> {
  readonly path: Path;
  readonly parameters: P & Readonly<Record<PathNames<Path>, AnyParameter>>;
  readonly body?: { readonly schema: Body; readonly description: string; readonly examples: Examples };
  readonly errors: Readonly<Record<Code, string>> &
    ([PathNames<Path>] extends [never] ? unknown : { readonly not_found: string });
}

type ClientDeclaration<
  M extends Method,
  Path extends string,
  P extends Parameters,
  Body extends z.ZodObject,
  Code extends ErrorCode,
  Repositories,
> = Common &
  ForClients &
  Typed<Path, P, Body, Code> & {
    readonly method: M;
    handle(
      call: ClientCall<ValuesOf<P, Path>, M extends 'PATCH' ? Patch<z.output<Body>> : z.output<Body>>,
      repositories: Repositories,
    ): Promise<Success | Failure<NoInfer<Code> | ImpliedCode<M>>>;
  };

type OperatorDeclaration<
  Path extends string,
  P extends Parameters,
  Body extends z.ZodObject,
  Code extends ErrorCode,
  Repositories,
> = Common &
  ForOperators &
  Typed<Path, P, Body, Code> & {
    handle(
      call: OperatorCall<ValuesOf<P, Path>, z.output<Body>>,
      repositories: Repositories,
    ): Promise<Success | Failure<NoInfer<Code>>>;
  };

/** The codes that every operation of a method can answer with. A write can find that its key is no longer valid. */
type ImpliedCode<M extends Method> =
  | 'unauthorized'
  | (M extends 'POST'
      ? 'conflict' | 'idempotency_key_reused'
      : M extends 'PATCH'
        ? 'invalid_request'
        : never);

/**
 * Declares an operation for clients. `handle` gets parsed values, and it can only fail with codes that are declared here. For
 * a GET, the service adds HEAD, `ETag` and 304; for a POST, it adds `Idempotency-Key`.
 */
export function operation<
  const M extends Method,
  const Path extends string,
  const P extends Parameters,
  const Code extends ErrorCode = never,
  Body extends z.ZodObject = z.ZodObject,
  Repositories = unknown,
>(declaration: ClientDeclaration<M, Path, P, Body, Code, Repositories>): ClientOperation<Repositories> {
  return declaration;
}

/** Declares an operation for operators. */
export function operatorOperation<
  const Path extends string,
  const P extends Parameters,
  const Code extends ErrorCode = never,
  Body extends z.ZodObject = z.ZodObject,
  Repositories = unknown,
>(declaration: OperatorDeclaration<Path, P, Body, Code, Repositories>): OperatorOperation<Repositories> {
  return declaration;
}

/** The operations on one kind of thing. */
export interface OperationGroup<Op extends Operation = Operation> {
  /** The group of the reference. */
  readonly name: string;
  readonly description: string;
  /** The schemas that have a name, each with an example. Without them, those that the operations use. */
  readonly schemas?: readonly { readonly schema: z.ZodType; readonly example: unknown }[];
  readonly operations: readonly Op[];
}

export type Resource<Repositories = never> = OperationGroup<ClientOperation<Repositories>>;

export type OperatorResource<Repositories = never> = OperationGroup<OperatorOperation<Repositories>>;

/** The names in a path, in their order. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The parameters that are not in the path. */
export function queryParameters({
  path,
  parameters,
}: Pick<Operation, 'path' | 'parameters'>): NamedParameter[] {
  const inPath = pathNames(path);
  return Object.entries(parameters).filter(([name]) => !inPath.includes(name));
}

/** What every operation can answer. */
const CLIENT_CODES: readonly ErrorCode[] = [
  'unauthorized',
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'internal_error',
  'unavailable',
];
const OPERATOR_CODES: readonly ErrorCode[] = [
  'unauthorized',
  'insufficient_scope',
  'rate_limit_exceeded',
  'internal_error',
  'unavailable',
];

/** Every error code that an operation can answer with, in the order of `ERRORS`. */
export function errorCodes(declaration: Operation): ErrorCode[] {
  const { method, body, errors, role, scope, deprecated } = declaration;
  const codes = new Set<string>([
    ...(role === undefined ? CLIENT_CODES : OPERATOR_CODES),
    ...Object.keys(errors),
  ]);
  if (body !== undefined) for (const code of BODY_CODES) codes.add(code);
  if (method === 'DELETE') codes.add('invalid_request');
  if (role === undefined && declaration.allowance !== 'holder') codes.add('key_banned');
  if (scope !== undefined) codes.add('insufficient_scope');
  const isRepeatable = role === undefined && method === 'POST';
  if (isRepeatable) for (const code of ['conflict', 'idempotency_key_reused']) codes.add(code);
  if (isRepeatable || queryParameters(declaration).length > 0) codes.add('invalid_parameter');
  if (deprecated !== undefined) codes.add('gone');
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** The codes about the body of a request. */
const BODY_CODES = ['invalid_request', 'payload_too_large', 'unsupported_media_type'] as const;

/** The message of a 412. It is true for a tag that is out of date, malformed or of other content. */
export function otherTag(content: string): string {
  return `If-Match does not name the ETag of the ${content} as it is now: read it again, and send its new ETag.`;
}

/** The date of a removal as the description shows it: `2030-12-05`. */
export function sunsetDate({ removal }: Deprecation): string {
  return new Date(removal).toISOString().slice(0, 10);
}

export const IN_FLIGHT = {
  error: 'conflict',
  message: 'The first request with this Idempotency-Key is in flight: try again later.',
  retryAfter: 1,
} as const satisfies Failure;

/** The answer to a write that clients may send again. */
export function answerOf<Status extends number, Code extends ErrorCode>(
  outcome: Outcome<Status, Code>,
): Success | Failure<'conflict' | 'idempotency_key_reused' | Code> {
  if (outcome.outcome === 'refused') return failureOf(outcome);
  if (outcome.outcome === 'reused')
    return { error: 'idempotency_key_reused', message: ERRORS.idempotency_key_reused.message };
  if (outcome.outcome === 'in_flight') return IN_FLIGHT;
  return { ...outcome.answer, isReplay: outcome.outcome === 'replayed' };
}

/** The answer to a write that was done or refused. `fault` is the message about a body that is refused. */
export function resultOf<Status extends number, Code extends ErrorCode>(
  result: Answer<Status> | RefusedWrite<Code>,
  fault?: string,
): Success | Failure<Code> {
  if (!('refused' in result)) return result;
  const { refused: error } = result;
  return error === 'invalid_request' && fault !== undefined ? { error, message: fault } : failureOf(result);
}

function failureOf<Code extends ErrorCode>({ refused: error, message }: RefusedWrite<Code>): Failure<Code> {
  return message === undefined ? { error } : { error, message };
}
