// Contract: section 10.2.
import type { z } from 'zod';
import type { AnyDeclaration, AnyOperation, Method, Parameters } from '../http/declaration.ts';
import type { Author } from '../domain/audit.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { Operator, Role } from '../domain/operator.ts';

/** The request of an operation of the admin API, besides its values. */
interface OfOperator {
  readonly operator: Operator;
  /** The operator as the author of a change, with the address of the client. */
  readonly author: Author;
}

interface Declaration<
  M extends Method,
  Path extends string,
  P extends Parameters,
  Body extends z.ZodObject,
  Status extends number,
  Code extends ErrorCode,
  Needs,
> extends AnyDeclaration<M, Path, P, Body, Status, Code, Needs, z.output<Body>, OfOperator> {
  /** The role that the operator needs. An admin may do everything that a viewer may. */
  readonly role: Role;
}

/** An operation of the admin API. `Needs` are the stores that it uses. */
export interface AdminOperation<Needs = never> extends AnyOperation<OfOperator, Needs> {
  readonly role: Role;
}

export interface AdminResource<Needs = never> {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly AdminOperation<Needs>[];
}

/** Declares an operation of the admin API. `handle` can only give answers and error codes that are declared here. */
export function adminOperation<
  const M extends Method,
  const Path extends string,
  const P extends Parameters,
  const Status extends number,
  const Code extends ErrorCode = never,
  Body extends z.ZodObject = z.ZodObject,
  Needs = unknown,
>(declaration: Declaration<M, Path, P, Body, Status, Code, Needs>): AdminOperation<Needs> {
  return declaration;
}
