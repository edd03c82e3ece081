// Contract: sections 3, 4, 9 and 10.2.
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { KeyRecord } from '../domain/account.ts';
import type { Scope } from '../domain/scope.ts';
import type { Actor, OperatorActor } from '../domain/audit.ts';
import type { Place } from '../domain/cursor.ts';
import { ERROR_CODES, type ErrorCode } from '../domain/errors.ts';
import type { Operator, Role } from '../domain/operator.ts';
import { type Patch, toPatch } from '../domain/patch.ts';
import type { Waits } from './waits.ts';
import type { Idempotency, Replay } from '../domain/idempotency.ts';
import type { Json } from '../domain/json.ts';
import type { Page, Signal } from '../domain/page.ts';
import type { Result } from '../domain/result.ts';
import {
  type AnyParameter,
  cursor,
  integer,
  LIMIT,
  type NamedParameter,
  type Parameter,
  type Values,
} from './parameters.ts';

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
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly content?: Content;
  /** Set when nothing may store the response: it holds a secret, or what is new at this moment. */
  readonly noStore?: true;
}

/** The page that a list returns, of objects or as JSON. */
export interface AnyPage extends Pick<Page<unknown, bigint | Place>, 'next'> {
  readonly items: readonly object[] | Json<readonly unknown[]>;
  /** Keeps the response of a page that may be returned again, so that the service encodes it only once. */
  readonly cache?: { response?: object } | undefined;
}

/** What `handle` returns. The declaration has the status, and the messages of failures without one. */
export type HandlerResult<Code extends ErrorCode = ErrorCode> =
  | Result<object | Json<unknown> | undefined, Code>
  | Replay
  | AnyPage;

/** A request that was let in, and is valid. */
export interface Call<P = Values, Body = unknown> {
  readonly parameters: P;
  readonly body: Body;
  /** Who changes something, with the address of the client. */
  readonly actor: Actor;
  /** For work in several parts. */
  readonly signal: Signal;
}

/** The request of a client with an API key. */
export interface ClientCall<P = Values, Body = unknown> extends Call<P, Body> {
  readonly key: KeyRecord;
  /** The account of the key. */
  readonly accountId: number;
  /** For an answer that waits: its method, and the socket that ends or closes when the client has gone. */
  readonly request: Pick<IncomingMessage, 'method' | 'socket'>;
  /** For what is awaited and is no work of the service. */
  readonly waits: Pick<Waits, 'until'>;
  /** The entity tags of `If-Match`, for `isCurrent`. Undefined when the request has no such header. */
  readonly ifMatch: readonly string[] | undefined;
  /** Set when the request carries an `Idempotency-Key`. */
  readonly idempotency: Idempotency | undefined;
}

/** The request of an operator. */
export interface OperatorCall<P = Values, Body = unknown> extends Call<P, Body> {
  readonly operator: Operator;
  readonly actor: OperatorActor;
  /** The origin of the console, as the browser of the operator names it. Undefined for a token. */
  readonly origin: string | undefined;
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
  /** The answer when the operation succeeds. */
  readonly answer: DeclaredAnswer;
  /** The path of what the operation adds, with `{id}` in place of its id: the `Location` of its answer. */
  readonly location?: string;
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
  handle(call: never, repositories: Repositories): Promise<HandlerResult>;
}

/** An operation for operators. */
export interface OperatorOperation<Repositories = never> extends Common, ForOperators {
  handle(call: never, repositories: Repositories): Promise<HandlerResult>;
}

/** Anything that can be asked for. Everything else is derived from it: routes, checks, description, samples, metrics. */
export type Operation<Repositories = never> = ClientOperation<Repositories> | OperatorOperation<Repositories>;

/** `petId` of `/pets/{petId}`. */
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never;

type ParameterValues<P extends Parameters, Path> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer Value, infer Default>
    ? Value | (Name extends PathNames<Path> ? never : Default)
    : never;
};

/** What `handle` may return: only codes that are declared, or that every operation of its method has. */
type Allowed<M extends Method, Code extends ErrorCode, R> = HandlerResult<
  NoInfer<Code> | (R extends Role ? ImpliedOperatorCode<M> : ImpliedCode<M>)
>;

/**
 * A POST of a client can find that its `Idempotency-Key` was used for another request. Only `writeOnce` and `doOnce` find that, so one
 * that does not pass the key on does not compile.
 */
type HonoursKey<R, Returned> = R extends Role
  ? unknown
  : 'idempotency_key_reused' extends (Returned extends { readonly error: infer Code } ? Code : never)
    ? unknown
    : { readonly handle: 'It must pass the idempotency of its call on, and return what comes of it.' };

/**
 * What every declaration says, with the types that `handle` gets and gives. `R` is the role of an operation for operators, and
 * `Returned` what `handle` returns.
 */
type Typed<
  M extends Method,
  Path extends string,
  P extends Parameters,
  Body,
  Code extends ErrorCode,
  Repositories,
  R,
  Returned = Allowed<M, Code, R>,
> = {
  readonly id: string;
  /** Below the base address: `/pets/{petId}`. */
  readonly path: Path;
  readonly summary: string;
  readonly description: string;
  readonly role?: R;
  /** The codes that this operation answers with besides those of `errorCodes`, each with its message. */
  readonly errors?: Readonly<Record<Code, string>>;
  handle(
    call: R extends Role
      ? OperatorCall<ParameterValues<P, Path>, Body>
      : ClientCall<ParameterValues<P, Path>, M extends 'PATCH' ? Patch<Body> : Body>,
    repositories: Repositories,
  ): Promise<Returned>;
} & ([PathNames<Path>] extends [never]
  ? unknown
  : {
      readonly parameters: Readonly<Record<PathNames<Path>, AnyParameter>>;
      readonly errors: { readonly not_found: string };
    }) &
  (R extends Role ? ForOperators : ForClients);

/** The codes that every operation of a method can answer with. A write can find that its key is no longer valid, or lacks the scope. */
type ImpliedCode<M extends Method> =
  | 'unauthorized'
  | 'insufficient_scope'
  | (M extends 'POST'
      ? 'conflict' | 'idempotency_key_reused'
      : M extends 'PATCH'
        ? 'invalid_request'
        : M extends 'GET'
          ? 'invalid_parameter'
          : never);

/** No schema knows every rule, such as that an end lies in the future. */
type ImpliedOperatorCode<M extends Method> = M extends 'POST' | 'PATCH'
  ? 'invalid_request'
  : M extends 'GET'
    ? 'invalid_parameter'
    : never;

type For<R, Repositories> = R extends Role ? OperatorOperation<Repositories> : ClientOperation<Repositories>;

/** The parameters of the path, and the query parameters. */
interface WithParameters<P> {
  readonly parameters?: P;
}

interface WithBody {
  readonly body: { readonly description: string; readonly examples: Examples };
}

interface WithAnswer {
  readonly answer: {
    readonly description: string;
    readonly examples: Examples;
    /** Set when nothing may store the response: it holds a secret, or what is new at this moment. */
    readonly noStore?: true;
  };
}

/** The query parameters of every list. */
interface Paging {
  readonly limit: Parameter<number, number>;
  readonly cursor: Parameter<bigint>;
}

/*
 * The shapes of an operation. Each fills in its method, its status and its schemas, and checks the types: `handle` gets
 * parsed values, and it can only fail with codes that are declared. With a `role`, an operation is for operators, else for
 * clients. For a GET, the service adds HEAD, `ETag` and 304; for a POST of a client, it adds `Idempotency-Key`.
 */

/** GET of a page of `things`, whose schema is `schema`. */
export function list<
  const Path extends string,
  const P extends Parameters = {},
  const Code extends ErrorCode = never,
  Repositories = unknown,
  R extends Role | undefined = undefined,
>(
  schema: z.ZodType,
  things: string,
  declaration: Omit<Typed<'GET', Path, P & Paging, never, Code, Repositories, R>, 'summary'> & {
    readonly summary?: string;
    /** Query parameters that choose what the list holds. */
    readonly filters?: P;
    readonly examples: Examples;
  },
): For<R, Repositories> {
  const { filters, examples, description, ...rest } = declaration;
  const isForClients = declaration.role === undefined;
  const limit = integer(LIMIT, {
    description: `Maximum number of ${isForClients ? things : 'rows'}${isForClients ? ' to return' : ''}.`,
    example: LIMIT.default,
  });
  return complete({
    method: 'GET',
    summary: `List ${things}`,
    ...rest,
    description: isForClients
      ? `${description} When there are more, the \`Link\` header leads to the next page.`
      : description,
    parameters: isForClients ? { limit, ...filters, cursor } : { ...filters, limit, cursor },
    answer: { status: 200, description: `A page of ${things}.`, content: { schema, examples } },
  });
}

/** GET of one thing. */
export function read<
  const Path extends string,
  const P extends Parameters = {},
  const Code extends ErrorCode = never,
  Repositories = unknown,
  R extends Role | undefined = undefined,
>(
  schema: z.ZodType,
  declaration: Typed<'GET', Path, P, never, Code, Repositories, R> & WithParameters<P> & WithAnswer,
): For<R, Repositories> {
  return complete({ method: 'GET', ...declaration, answer: answerWith(200, schema, declaration.answer) });
}

/** POST of a body of `input` that adds something. */
export function create<
  Body extends z.ZodObject,
  const Path extends string,
  const P extends Parameters = {},
  const Code extends ErrorCode = never,
  Repositories = unknown,
  R extends Role | undefined = undefined,
  Returned extends Allowed<'POST', Code, R> = Allowed<'POST', Code, R>,
>(
  input: Body,
  schema: z.ZodType,
  declaration: Typed<'POST', Path, P, z.output<Body>, Code, Repositories, R, Returned> &
    HonoursKey<R, Returned> &
    WithParameters<P> &
    WithBody &
    WithAnswer & { readonly location?: string },
): For<R, Repositories> {
  const body = { schema: input, ...declaration.body };
  return complete({
    method: 'POST',
    ...(declaration.role === undefined && { location: `${declaration.path}/{id}` }),
    ...declaration,
    body,
    answer: answerWith(201, schema, declaration.answer),
  });
}

/** PATCH of a thing with a body of `input`. */
export function change<
  Body extends z.ZodObject,
  const Path extends string,
  const P extends Parameters = {},
  const Code extends ErrorCode = never,
  Repositories = unknown,
  R extends Role | undefined = undefined,
>(
  input: Body,
  schema: z.ZodType,
  declaration: Typed<'PATCH', Path, P, z.output<Body>, Code, Repositories, R> &
    WithParameters<P> &
    WithBody &
    WithAnswer,
): For<R, Repositories> {
  const body = { schema: input, ...declaration.body };
  return complete({
    method: 'PATCH',
    ...declaration,
    body,
    answer: answerWith(200, schema, declaration.answer),
  });
}

/** DELETE of a thing. `answer` says when it is done. */
export function remove<
  const Path extends string,
  const P extends Parameters = {},
  const Code extends ErrorCode = never,
  Repositories = unknown,
  R extends Role | undefined = undefined,
>(
  declaration: Typed<'DELETE', Path, P, never, Code, Repositories, R> &
    WithParameters<P> & { readonly answer: string },
): For<R, Repositories> {
  return complete({
    method: 'DELETE',
    ...declaration,
    answer: { status: 204, description: declaration.answer },
  });
}

/** POST that does something with a thing. It adds nothing, unless `status` is 201. `input` is the schema of its body. */
export function act<
  const Path extends string,
  Body extends z.ZodObject = never,
  const P extends Parameters = {},
  const Code extends ErrorCode = never,
  Repositories = unknown,
  R extends Role | undefined = undefined,
  Returned extends Allowed<'POST', Code, R> = Allowed<'POST', Code, R>,
>(
  schema: z.ZodType,
  declaration: Typed<'POST', Path, P, z.output<Body>, Code, Repositories, R, Returned> &
    HonoursKey<R, Returned> &
    WithParameters<P> &
    WithAnswer &
    Partial<WithBody> & { readonly input?: Body; readonly status?: 201 | 202 },
): For<R, Repositories> {
  const { input, status = 200, body, ...rest } = declaration;
  return complete({
    method: 'POST',
    ...rest,
    ...(input !== undefined && { body: { schema: input, ...body } }),
    answer: answerWith(status, schema, declaration.answer),
  });
}

function answerWith(
  status: 200 | 201 | 202,
  schema: z.ZodType,
  { examples, ...rest }: WithAnswer['answer'],
): DeclaredAnswer {
  return { status, ...rest, content: { schema, examples } };
}

/** The types of the shapes have checked the declaration. */
function complete(declaration: object): never {
  return { parameters: {}, errors: {}, ...declaration } as never;
}

/** What differs from the operation of clients. Without `schema`, the answer is the same. */
interface DifferencesForOperators
  extends Pick<OperatorOperation, 'role'>,
    Partial<Pick<OperatorOperation, 'path' | 'summary' | 'description' | 'parameters' | 'errors'>> {
  /** The schema of the body. */
  readonly input?: z.ZodObject;
  /** The schema of the answer. */
  readonly schema?: z.ZodType;
  readonly examples?: Examples;
}

/**
 * The same operation for operators. They have no scopes, and neither `Idempotency-Key` nor `If-Match`. If there is an account, it
 * is that of the path instead of that of the key.
 */
export function forOperators<Repositories>(
  operation: ClientOperation<Repositories>,
  { input, schema, examples = {}, ...differences }: DifferencesForOperators,
): OperatorOperation<Repositories> {
  const { id, method, path, summary, description, parameters, body, answer } = operation;
  const { precondition_failed: _, insufficient_scope: __, ...errors } = operation.errors;
  return {
    id,
    method,
    path,
    summary,
    description,
    parameters,
    errors,
    ...differences,
    ...(body && { body: { ...body, schema: input ?? body.schema } }),
    answer: {
      status: answer.status,
      description: answer.description,
      ...((schema ?? answer.content) && { content: schema ? { schema, examples } : answer.content }),
    },
    handle({ actor, parameters: values, body: sent }: OperatorCall, repositories) {
      const content = method === 'PATCH' ? toPatch(sent as object) : sent;
      const call = { actor, parameters: values, body: content, accountId: values['accountId'] };
      return operation.handle(call as never, repositories);
    },
  };
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
