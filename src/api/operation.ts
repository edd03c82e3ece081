// Contract: sections 3, 4 and 9.
import type { z } from 'zod';
import type { KeyRecord, Scope } from '../domain/account.ts';
import type { Author } from '../domain/audit.ts';
import { ERROR_CODES, type ErrorCode } from '../domain/errors.ts';
import type { Patch } from '../domain/patch.ts';
import type { Answer, Idempotency, Outcome, RefusedWrite } from '../domain/ports.ts';
import {
  type AnyDeclaration,
  type AnyOperation,
  bodyErrors,
  type Content,
  type Deprecation,
  type Failure,
  type Method,
  type Parameters,
  queryParameters,
  type Success,
} from './declaration.ts';

/** How stable an operation is. Without it, the operation only changes compatibly. */
export type Stability = 'experimental' | 'beta';

/** The request of an operation with a key, besides its values. */
interface OfKey {
  readonly key: KeyRecord;
  /** The account of the key. */
  readonly accountId: number;
  /** The key as the author of a change, with the address of the client. */
  readonly author: () => Author;
  /** The entity tags of `If-Match`, for `isCurrent`. Undefined when the request has no such header. */
  readonly ifMatch: readonly string[] | undefined;
  /** Set when the request carries an `Idempotency-Key`. */
  readonly idempotency: Idempotency | undefined;
}

/** A request that is authenticated, admitted and valid. */
export interface Call extends OfKey, Content {}

/** How an operation of the API is declared. */
interface Declaration<
  M extends Method,
  Path extends string,
  P extends Parameters,
  Body extends z.ZodObject,
  Status extends number,
  Code extends ErrorCode,
  Needs,
> extends AnyDeclaration<
    M,
    Path,
    P,
    Body,
    Status,
    Code,
    Needs,
    M extends 'PATCH' ? Patch<z.output<Body>> : z.output<Body>,
    OfKey,
    CodeOf<M>
  > {
  /** The scope that the key needs. Without it, any key may call the operation. */
  readonly scope?: Scope;
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

/** The codes that every operation of a method can answer with. A write can find that its key is no longer valid. */
type CodeOf<M extends Method> =
  | 'unauthorized'
  | (M extends 'POST' ? IdempotencyCode : M extends 'PATCH' ? 'invalid_request' : never);

type IdempotencyCode = 'conflict' | 'idempotency_key_reused';

/** An operation of the API. */
export interface Operation<Needs = never>
  extends AnyOperation<OfKey, Needs>,
    Pick<
      Declaration<Method, string, Parameters, z.ZodObject, number, ErrorCode, Needs>,
      'scope' | 'allowance' | 'guide' | 'stability' | 'deprecated' | 'sample'
    > {}

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
export function otherTag(content: string): string {
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
  if (outcome.outcome === 'refused') return failureOf(outcome);
  if (outcome.outcome === 'reused') return KEY_REUSED;
  if (outcome.outcome === 'in_flight') return KEY_IN_FLIGHT;
  return { ...outcome.answer, isReplay: outcome.outcome === 'replayed' };
}

/** The answer to a write that was done or refused. `fault` is the message about a body that is refused. */
export function resultOf<Status extends number, Code extends ErrorCode>(
  result: Answer<Status> | RefusedWrite<Code>,
  fault?: string,
): Success<Status> | Failure<Code> {
  if (!('refused' in result)) return result;
  const { refused: error } = result;
  return error === 'invalid_request' && fault !== undefined ? { error, message: fault } : failureOf(result);
}

function failureOf<Code extends ErrorCode>({ refused: error, message }: RefusedWrite<Code>): Failure<Code> {
  return message === undefined ? { error } : { error, message };
}

/** What every operation can answer. */
const COMMON: readonly ErrorCode[] = [
  'unauthorized',
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'internal_error',
  'unavailable',
];

/** Every error code that an operation can answer with, in the order of `ERROR_CODES`. */
export function errorCodes(its: Operation): ErrorCode[] {
  const codes = new Set<string>([...COMMON, ...bodyErrors(its), ...Object.keys(its.errors)]);
  if (its.allowance !== 'holder') codes.add('key_banned');
  if (its.scope !== undefined) codes.add('insufficient_scope');
  if (its.method === 'POST') for (const code of ['conflict', 'idempotency_key_reused']) codes.add(code);
  if (its.method === 'POST' || queryParameters(its).length > 0) codes.add('invalid_parameter');
  if (its.deprecated !== undefined) codes.add('gone');
  return ERROR_CODES.filter((code) => codes.has(code));
}

/** The date of a removal as the description shows it: `2030-12-05`. */
export function sunsetDate({ removal }: Deprecation): string {
  return new Date(removal).toISOString().slice(0, 10);
}
