// Contract: sections 3 and 10.2.
import type { z } from 'zod';
import type { ErrorCode } from '../domain/errors.ts';
import type { Answer } from '../domain/ports.ts';
import type { AnyParameter, Named, Parameter, Values } from './parameters.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

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

/** The values of a valid request. */
export interface Content<Parsed = Values, Body = unknown> {
  readonly parameters: Parsed;
  readonly body: Body;
}

export interface Success<Status extends number = number>
  extends Omit<Answer<Status>, 'location'>,
    Partial<Pick<Answer, 'location'>> {
  /** The row of the store that the body shows. It keeps its response, so that the service writes it only once. */
  readonly source?: { response?: object | undefined } | undefined;
  /** The place after which the next page begins, if there is one: the id of an item, or a text of `placeCursor`. */
  readonly next?: bigint | string | undefined;
  readonly isReplay?: boolean;
}

export interface Failure<Code extends ErrorCode = ErrorCode> {
  readonly error: Code;
  /** Without it, the answer has the message that the operation declares for the code. */
  readonly message?: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

interface DeclaredAnswer {
  readonly description: string;
  readonly content?: AnswerBody;
  /** Set when the body holds a secret: then nothing may store the response. */
  readonly isSecret?: true;
}

/** The body of an answer. */
interface AnswerBody {
  readonly schema: z.ZodType;
  readonly examples: Examples;
}

/**
 * The declaration of any operation. A schema is the type, the check and the description of its values. `Given` is the
 * parsed body. `Its` is what the handler knows about the request besides its values. `Implied` are the codes that an
 * operation need not declare.
 */
export interface AnyDeclaration<
  M extends Method,
  Path extends string,
  P extends Parameters,
  Body extends z.ZodObject,
  Status extends number,
  Code extends ErrorCode,
  Needs,
  Given,
  Its,
  Implied extends ErrorCode = never,
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
  readonly answers: Readonly<Record<Status, DeclaredAnswer>>;
  /** The codes that this operation answers with besides those of `errorCodes`, each with its message. */
  readonly errors: Readonly<Record<Code, string>> &
    ([PathNames<Path>] extends [never] ? unknown : { readonly not_found: string });
  handle(
    call: Its & Content<ValuesOf<P, Path>, Given>,
    stores: Needs,
  ): Promise<Success<NoInfer<Status>> | Failure<NoInfer<Code> | Implied>>;
}

/** `petId` of `/pets/{petId}`. */
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never;

type ValuesOf<P extends Parameters, Path> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer Its, infer Absent>
    ? Its | (Name extends PathNames<Path> ? never : Absent)
    : never;
};

/** Any declared operation, as everything that is derived from it sees it. `Needs` are the stores that it uses. */
export interface AnyOperation<Its = never, Needs = never>
  extends Omit<
    AnyDeclaration<Method, string, Parameters, z.ZodObject, number, ErrorCode, Needs, never, Its>,
    'parameters' | 'errors' | 'handle'
  > {
  readonly parameters: Parameters;
  readonly errors: Readonly<Partial<Record<ErrorCode, string>>>;
  readonly deprecated?: Deprecation;
  handle(call: Its & Content, stores: Needs): Promise<Success | Failure>;
}

/** The names in a path, in their order. */
export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** The parameters that are not in the path. */
export function queryParameters({ path, parameters }: Pick<AnyOperation, 'path' | 'parameters'>): Named[] {
  const inPath = pathNames(path);
  return Object.entries(parameters).filter(([name]) => !inPath.includes(name));
}

/** The codes about the body of a request. A DELETE takes none. */
export function bodyErrors({ method, body }: Pick<AnyOperation, 'method' | 'body'>): readonly ErrorCode[] {
  if (body !== undefined) return ['invalid_request', 'payload_too_large', 'unsupported_media_type'];
  return method === 'DELETE' ? ['invalid_request'] : [];
}
