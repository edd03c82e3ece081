// Contract: sections 3, 4, 9 and 10.2.
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { KeyRecord } from '../domain/account.ts';
import type { Scope } from '../domain/scope.ts';
import type { Actor, OperatorActor } from '../domain/audit.ts';
import type { SortKey } from '../domain/cursor.ts';
import { BODY_LIMIT, ERROR_CODES, type ErrorCode } from '../domain/errors.ts';
import type { Operator, Role } from '../domain/operator.ts';
import { listExamples } from '../domain/fields.ts';
import { listed } from '../domain/parse.ts';
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
export interface AnyPage extends Pick<Page<unknown, bigint | SortKey>, 'next'> {
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
  readonly body?: {
    readonly schema: z.ZodObject;
    readonly description: string;
    readonly examples: Examples;
    /** In bytes. */
    readonly limit: number;
  };
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

interface Handles<Uses> {
  /** The names of what `handle` gets. The group of the operation says it. */
  readonly uses?: readonly string[];
  handle(call: never, uses: Uses): Promise<HandlerResult>;
}

/** An operation for clients. `Uses` are the repositories that it uses. */
export type ClientOperation<Uses = never> = Common & ForClients & Handles<Uses>;

export type OperatorOperation<Uses = never> = Common & ForOperators & Handles<Uses>;

/** Anything that can be asked for. Everything else is derived from it: routes, checks, description, samples, metrics. */
export type Operation<Uses = never> = ClientOperation<Uses> | OperatorOperation<Uses>;

/** What a declaration says in every shape. A shape adds to it. */
type Declaration = Pick<Common, 'id' | 'path' | 'description'> &
  Partial<Pick<Common, 'parameters' | 'errors'>> &
  (ForClients | ForOperators);

interface WithSummary {
  readonly summary: string;
}

/** What a declaration says of its body. Its schema says the rest. */
interface WithBody {
  /** In bytes, where it may be larger than others. */
  readonly bodyLimit?: number;
}

/** What a declaration says of its answer. Its schema says the rest. */
interface WithAnswer {
  readonly noStore?: DeclaredAnswer['noStore'] | undefined;
  /** The answer, where it differs from the example of its schema. */
  readonly example?: unknown;
}

/** `petId` of `/pets/{petId}`. */
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never;

/** The values that `handle` gets. A parameter of the path is never absent. */
type ReadValues<D> = D extends { readonly parameters: infer P; readonly path: infer Path }
  ? {
      readonly [Name in keyof P]: P[Name] extends Parameter<infer Value, infer Absent>
        ? Value | (Name extends PathNames<Path> ? never : Absent)
        : never;
    }
  : {};

/** An issue in the PATCH of a client counts only after 404 and 412. */
type CallFor<M extends Method, D, P, Body> = D extends ForOperators
  ? OperatorCall<P, Body>
  : ClientCall<P, M extends 'PATCH' ? Patch<Body> : Body>;

/** What `handle` may return: only codes that are declared, or that every operation of its method has. */
type Allowed<M extends Method, D> = HandlerResult<
  | (D extends { readonly errors: infer Errors } ? Extract<keyof Errors, ErrorCode> : never)
  // No schema knows every rule, such as that an end lies in the future.
  | (M extends 'GET' ? 'invalid_parameter' : M extends 'DELETE' ? never : 'invalid_request')
  // A write can find that its key is no longer valid, or lacks the scope.
  | (D extends ForOperators
      ? never
      : 'unauthorized' | 'insufficient_scope' | (M extends 'POST' ? (typeof REPEAT_CODES)[number] : never))
>;

/** The codes about the body of a request. */
const BODY_CODES = ['invalid_request', 'payload_too_large', 'unsupported_media_type'] as const;

/** The codes about the `Idempotency-Key` of a request. */
const REPEAT_CODES = ['conflict', 'idempotency_key_reused'] as const;

type AnyKey<Union> = Union extends unknown ? keyof Union : never;

/**
 * The declaration of a shape: `D` is all that it says, and `handle` gets and returns what follows from `D`. The compiler infers `D`
 * before it looks at `handle`, because the first part maps `D`. The second refuses what no declaration of the shape has.
 */
type Declared<Shape, M extends Method, D, Uses, Body, Returned = Allowed<M, D>, P = ReadValues<D>> = {
  readonly [Name in keyof D]: D[Name];
} & { readonly [Name in Exclude<keyof D, AnyKey<Shape> | 'handle'>]: never } & {
  handle(call: CallFor<M, D, P, Body>, uses: Uses): Promise<Returned>;
};

/**
 * A POST of a client can find that its `Idempotency-Key` was used for another request. Only `writeOnce` and `doOnce` find that, so one
 * that does not pass the key on does not compile.
 */
type HonoursKey<D, Returned> = D extends ForOperators
  ? unknown
  : 'idempotency_key_reused' extends (Returned extends { readonly error: infer Code } ? Code : never)
    ? unknown
    : { readonly handle: 'It must pass the idempotency of its call on, and return what comes of it.' };

type For<D, Uses> = D extends ForOperators ? OperatorOperation<Uses> : ClientOperation<Uses>;

/*
 * The shapes of an operation. Each fills in its method, its status and its schemas, and checks the types: `handle` gets
 * parsed values, and it can only fail with codes that are declared. With a `role`, an operation is for operators, else for
 * clients. For a GET, the service adds HEAD, `ETag` and 304; for a POST of a client, it adds `Idempotency-Key`.
 */

type ListDeclaration = Declaration & Partial<WithSummary>;

interface PageValues {
  readonly limit: number;
  readonly cursor: bigint | undefined;
}

/**
 * GET of a page of `things`, each of which is as `item` says. Its parameters choose what the list holds. A list in another order than
 * that of ids has a `cursor` among them.
 */
export function list<const D extends ListDeclaration, Uses>(
  item: z.ZodType,
  things: string,
  declaration: Declared<
    ListDeclaration,
    'GET',
    D,
    Uses,
    undefined,
    Allowed<'GET', D>,
    ReadValues<D> & Omit<PageValues, keyof ReadValues<D>>
  >,
): For<D, Uses> {
  const { role, description, parameters = {} } = declaration;
  const { cursor: own = cursor, ...filters } = parameters;
  const isForClients = role === undefined;
  const limit = integer(LIMIT, {
    description: `Maximum number of ${isForClients ? things : 'rows'}${isForClients ? ' to return' : ''}.`,
    example: LIMIT.default,
  });
  const page = listExamples(item).slice(0, 2);
  const schema = z
    .array(item)
    .max(LIMIT.maximum)
    .meta({
      id: `${item.meta()?.id?.replace(/(?<!e)y$/, 'ie')}s`,
      description: `A page of ${things}.`,
      examples: [page, []],
    });
  return complete<D, Uses>({
    method: 'GET',
    summary: `List ${things}`,
    ...declaration,
    description: isForClients
      ? `${description} When there are more, the \`Link\` header leads to the next page.`
      : description,
    parameters: isForClients ? { limit, ...filters, cursor: own } : { ...filters, limit, cursor: own },
    answer: {
      status: 200,
      description: `A page of ${things}.`,
      content: {
        schema,
        examples: { page: { summary: 'A page', value: page }, empty: { summary: 'None', value: [] } },
      },
    },
  });
}

type ThingDeclaration = Declaration & WithSummary & WithAnswer;

/** GET of one thing. */
export function read<const D extends ThingDeclaration, Uses>(
  schema: z.ZodType,
  declaration: Declared<ThingDeclaration, 'GET', D, Uses, undefined>,
): For<D, Uses> {
  return complete<D, Uses>({
    method: 'GET',
    ...declaration,
    answer: describeAnswer(200, schema, declaration),
  });
}

type CreateDeclaration = Declaration & WithSummary & WithAnswer & WithBody & Pick<Common, 'location'>;

/** POST of a body of `input` that adds something. */
export function create<
  Body extends z.ZodObject,
  const D extends CreateDeclaration,
  Uses,
  Returned extends Allowed<'POST', D>,
>(
  input: Body,
  schema: z.ZodType,
  declaration: Declared<CreateDeclaration, 'POST', D, Uses, z.output<Body>, Returned> &
    HonoursKey<D, Returned>,
): For<D, Uses> {
  return complete<D, Uses>({
    method: 'POST',
    ...(declaration.role === undefined && { location: `${declaration.path}/{id}` }),
    ...declaration,
    body: describeBody(input, declaration.bodyLimit),
    answer: describeAnswer(201, schema, declaration),
  });
}

type ChangeDeclaration = ThingDeclaration & WithBody;

/** PATCH of a thing with a body of `input`. */
export function change<Body extends z.ZodObject, const D extends ChangeDeclaration, Uses>(
  input: Body,
  schema: z.ZodType,
  declaration: Declared<ChangeDeclaration, 'PATCH', D, Uses, z.output<Body>>,
): For<D, Uses> {
  return complete<D, Uses>({
    method: 'PATCH',
    ...declaration,
    body: describeBody(input, declaration.bodyLimit),
    answer: describeAnswer(200, schema, declaration),
  });
}

type RemoveDeclaration = Declaration & WithSummary & { readonly answer: string };

/** DELETE of a thing. `answer` says when it is done. */
export function remove<const D extends RemoveDeclaration, Uses>(
  declaration: Declared<RemoveDeclaration, 'DELETE', D, Uses, undefined>,
): For<D, Uses> {
  return complete<D, Uses>({
    method: 'DELETE',
    ...declaration,
    answer: { status: 204, description: declaration.answer },
  });
}

type ActDeclaration = ThingDeclaration & { readonly input?: z.ZodObject; readonly status?: 201 | 202 };

type Input<D> = D extends { readonly input: infer Body extends z.ZodObject } ? z.output<Body> : undefined;

/** POST that does something with a thing. It adds nothing, unless `status` is 201. `input` is the schema of its body. */
export function act<const D extends ActDeclaration, Uses, Returned extends Allowed<'POST', D>>(
  schema: z.ZodType,
  declaration: Declared<ActDeclaration, 'POST', D, Uses, Input<D>, Returned> & HonoursKey<D, Returned>,
): For<D, Uses> {
  const { input, status = 200, ...rest } = declaration;
  return complete<D, Uses>({
    method: 'POST',
    ...rest,
    ...(input !== undefined && { body: describeBody(input) }),
    answer: describeAnswer(status, schema, declaration),
  });
}

function describeAnswer(
  status: DeclaredAnswer['status'],
  schema: z.ZodType,
  { noStore, example = listExamples(schema)[0] }: WithAnswer,
): DeclaredAnswer {
  const examples = { example: { summary: 'Example', value: example } };
  const { description = '' } = schema;
  return { status, description, content: { schema, examples }, ...(noStore && { noStore }) };
}

function describeBody(schema: z.ZodObject, limit = BODY_LIMIT): NonNullable<Common['body']> {
  const examples = listExamples(schema).map((value): [string, Example] => {
    const fields = Object.keys(value as object);
    return [fields.join('-'), { summary: `With ${listed(fields)}`, value }];
  });
  return { schema, description: schema.description ?? '', examples: Object.fromEntries(examples), limit };
}

type Filled<Uses> = Omit<Common, 'parameters' | 'errors'> &
  Handles<Uses> & {
    readonly parameters?: Parameters | undefined;
    readonly errors?: Common['errors'] | undefined;
  };

/** `D` says which kind of operation it is. */
function complete<D, Uses>({ parameters = {}, errors = {}, ...rest }: Filled<Uses>): For<D, Uses> {
  return { ...rest, parameters, errors } as For<D, Uses>;
}

/** What differs from the operation of clients. Without `schema`, the answer is the same. */
interface DifferencesForOperators
  extends Pick<OperatorOperation, 'role'>,
    Partial<Pick<OperatorOperation, 'path' | 'summary' | 'description' | 'parameters' | 'errors'>> {
  /** The schema of the body. */
  readonly input?: z.ZodObject;
  /** The schema of the answer. */
  readonly schema?: z.ZodType;
  readonly example?: unknown;
}

/**
 * The same operation for operators. They have no scopes, and neither `Idempotency-Key` nor `If-Match`. If there is an account, it
 * is that of the path instead of that of the key.
 */
export function forOperators<Uses>(
  operation: ClientOperation<Uses>,
  { input, schema, example, ...differences }: DifferencesForOperators,
): OperatorOperation<Uses> {
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
    ...(body && { body: input === undefined ? body : describeBody(input, body.limit) }),
    answer: schema === undefined ? answer : describeAnswer(answer.status, schema, { example }),
    handle({ actor, parameters: values, body: sent }: OperatorCall, uses) {
      const content = method === 'PATCH' ? toPatch(sent as object) : sent;
      const call = { actor, parameters: values, body: content, accountId: values['accountId'] };
      return operation.handle(call as never, uses);
    },
  };
}

/** The operations on one kind of thing. */
export interface OperationGroup<Op extends Operation = Operation> {
  /** The group of the reference. */
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Op[];
}

/** The part of a group that one feature declares. Of parts with the same name, one has the description. */
export interface GroupPart<Op extends Operation, Uses> extends Omit<OperationGroup<Op>, 'description'> {
  readonly description?: string;
  /** The names of all that the operations use, because they get nothing else. */
  readonly uses: Readonly<Record<keyof Uses, true>>;
}

export type Resource<Uses> = GroupPart<ClientOperation<Uses>, Uses>;

export type OperatorResource<Uses> = GroupPart<OperatorOperation<Uses>, Uses>;

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

/** Every error code that an operation can answer with, in the order of `ERRORS`. */
export function errorCodes(declaration: Operation): ErrorCode[] {
  const { method, body, errors, role, scope, allowance, deprecated } = declaration;
  const isForClients = role === undefined;
  const isRepeatable = isForClients && method === 'POST';
  const hasQuery = queryParameters(declaration).length > 0;
  const codes = new Set<ErrorCode | false>([
    'unauthorized',
    'rate_limit_exceeded',
    'internal_error',
    'unavailable',
    ...(Object.keys(errors) as ErrorCode[]),
    ...(body === undefined ? [] : BODY_CODES),
    ...(isRepeatable ? REPEAT_CODES : []),
    method === 'DELETE' && 'invalid_request',
    isForClients && 'daily_limit_exceeded',
    isForClients && allowance !== 'holder' && 'key_banned',
    (!isForClients || scope !== undefined) && 'insufficient_scope',
    (isRepeatable || hasQuery) && 'invalid_parameter',
    deprecated !== undefined && 'gone',
  ]);
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** The message of a 412. It is true for a tag that is out of date, malformed or of other content. */
export function otherTag(content: string): string {
  return `If-Match does not name the ETag of the ${content} as it is now: read it again, and send its new ETag.`;
}

/** The date of a removal as the description shows it: `2030-12-05`. */
export function sunsetDate({ removal }: Deprecation): string {
  return new Date(removal).toISOString().slice(0, 10);
}
