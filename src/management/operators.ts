// Contract: section 10.
import type { Actor } from '../domain/audit.ts';
import { ServiceError } from '../domain/errors.ts';
import {
  LINK_LIFETIME,
  type Operator,
  OperatorSecret,
  type OperatorToken,
  type Role,
  SESSION_LIFETIME,
} from '../domain/operator.ts';
import type { RandomBytes } from '../domain/api-key.ts';
import type { OperatorRepository } from '../resources/operators/repository.ts';
import { didYouMean } from '../domain/nearest.ts';
import { checkedName, nameTaken } from '../domain/text.ts';

/** @throws ServiceError `conflict` when the name is taken; that of `checkedName`. */
export async function createOperator(
  operators: OperatorRepository,
  actor: Actor,
  name: string,
  role: Role,
): Promise<Operator> {
  const added = await operators.add(actor, checkedName('operator', name), role);
  if ('value' in added) return added.value;
  const other = await operators.find(name);
  throw nameTaken('an operator', other?.name ?? name);
}

/** @throws ServiceError `not_found`, which names the operator that is probably meant. */
export async function existingOperator(operators: OperatorRepository, name: string): Promise<Operator> {
  const operator = await operators.find(name);
  if (operator === undefined) throw await noOperator(operators, name);
  return operator;
}

/** @throws ServiceError `not_found`. */
export async function operatorById(operators: OperatorRepository, id: number): Promise<Operator> {
  const operator = await operators.get(id);
  if (operator === undefined) throw new ServiceError('not_found', `There is no operator ${id}.`);
  return operator;
}

/**
 * Ends all links, sessions and tokens of an operator at once, on every instance.
 * @throws ServiceError `not_found`.
 */
export async function removeOperator(
  operators: OperatorRepository,
  actor: Actor,
  name: string,
): Promise<Operator> {
  const operator = await existingOperator(operators, name);
  // Another process may have removed it at this moment.
  if ('error' in (await operators.remove(actor, name))) throw await noOperator(operators, name);
  return operator;
}

async function noOperator(operators: OperatorRepository, name: string): Promise<ServiceError> {
  const names = (await operators.list()).map((operator) => operator.name);
  return new ServiceError('not_found', `There is no operator ${name}.${didYouMean(name, names)}`);
}

/** A new link. Its secret is known only now. */
export interface SignInLink {
  readonly secret: OperatorSecret;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/**
 * Makes a link that signs in once.
 * @throws ServiceError `not_found` when the operator is gone.
 */
export async function makeLink(
  operators: OperatorRepository,
  actor: Actor,
  random: RandomBytes,
  operator: Operator,
): Promise<SignInLink> {
  const secret = OperatorSecret.generate('link', random);
  const added = await operators.addLink(actor, operator, secret.hash(), LINK_LIFETIME);
  if ('error' in added) throw await noOperator(operators, operator.name);
  return { secret, expiresAt: added.value };
}

/**
 * The address of a link. `origin` is that of the console. The secret is in the fragment, which browsers do not send, so
 * no server, proxy or log sees it.
 */
export function linkAddress(origin: string, secret: OperatorSecret): string {
  return `${origin}/sign-in#${secret.reveal()}`;
}

/**
 * Uses up a link, and begins a session with a new secret in its place. `address` is the client's. The session with the
 * text `earlier` ends. Returns undefined when the link is used, expired, mistyped or unknown.
 */
export async function signIn(
  operators: OperatorRepository,
  random: RandomBytes,
  text: string,
  address: string | undefined,
  earlier?: string,
): Promise<{ readonly operator: Operator; readonly session: OperatorSecret } | undefined> {
  const link = OperatorSecret.parse('link', text);
  if (link === undefined) return undefined;
  const session = OperatorSecret.generate('session', random);
  const ended = earlier === undefined ? undefined : OperatorSecret.parse('session', earlier)?.hash();
  const operator = await operators.signIn(link.hash(), session.hash(), SESSION_LIFETIME, address, ended);
  return operator && { operator, session };
}

/** Ends a session at once, on every instance. A text that is no session changes nothing. */
export async function signOut(operators: OperatorRepository, text: string): Promise<void> {
  const session = OperatorSecret.parse('session', text);
  if (session !== undefined) await operators.signOut(session.hash());
}

/** A new token. Its text is known only now. */
export interface IssuedToken {
  readonly token: OperatorSecret;
  readonly record: OperatorToken;
}

/**
 * `now` and `expiresAt` are in Unix milliseconds. Without `expiresAt`, the token ends with its operator.
 * @throws ServiceError `invalid_parameter` when `expiresAt` is past; `not_found` when the operator is gone.
 */
export async function issueToken(
  operators: OperatorRepository,
  actor: Actor,
  random: RandomBytes,
  operator: Operator,
  { now, expiresAt }: { readonly now: number; readonly expiresAt: number | undefined },
): Promise<IssuedToken> {
  if (expiresAt !== undefined && expiresAt <= now)
    throw new ServiceError('invalid_parameter', 'The end of a token must lie in the future.');
  const token = OperatorSecret.generate('token', random);
  const added = await operators.addToken(actor, operator, token.hash(), expiresAt);
  if ('error' in added) throw await noOperator(operators, operator.name);
  return { token, record: added.value };
}

/**
 * Ends a token at once, on every instance.
 * @throws ServiceError `not_found`.
 */
export async function revokeToken(operators: OperatorRepository, actor: Actor, id: number): Promise<void> {
  if ('error' in (await operators.removeToken(actor, id)))
    throw new ServiceError('not_found', `There is no token ${id}.`);
}

/** The operator of a session or a token that is in force. A text of another format needs no query. */
export async function findOperator(
  operators: OperatorRepository,
  kind: 'session' | 'token',
  text: string,
): Promise<Operator | undefined> {
  const secret = OperatorSecret.parse(kind, text);
  return secret && operators.authenticate(kind, secret.hash());
}
