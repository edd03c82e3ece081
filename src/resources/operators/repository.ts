// Contract: section 10.
import { randomBytes } from 'node:crypto';
import type { Actor, Target } from '../../domain/audit.ts';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import { didYouMean } from '../../domain/nearest.ts';
import { type Operator, type Role, ROLES, SESSION_LIFETIME } from '../../domain/operator.ts';
import { type Page, type PageQuery, toPage } from '../../domain/page.ts';
import { mapResult, type Result } from '../../domain/result.ts';
import { findNameIssue, foldedName } from '../../domain/text.ts';
import type { Engine } from '../../storage/engine.ts';
import { type Sql, sql } from '../../storage/sql.ts';
import {
  createParser,
  enumeration,
  instant,
  integer,
  optional,
  type Stored,
  Table,
  text,
} from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { addAudit } from '../audit/repository.ts';
import {
  LINK_LIFETIME,
  type ListedOperator,
  OperatorSecret,
  type OperatorToken,
  SECRET_KINDS,
  type SecretHash,
  type SecretKind,
} from './rules.ts';

const OPERATORS = new Table(
  'operators',
  {
    id: integer,
    name: text,
    foldedName: text,
    role: enumeration(ROLES),
    createdAt: instant,
    lastSignInAt: optional(instant),
  },
  { key: ['id'], assignsIds: true },
);

const SECRETS = new Table(
  'operator_secrets',
  {
    id: integer,
    operatorId: integer,
    kind: enumeration(SECRET_KINDS),
    hash: text,
    createdAt: instant,
    expiresAt: optional(instant),
    /** Only of a session that began with a passkey. */
    passkeyId: optional(integer),
  },
  { key: ['id'], assignsIds: true },
);

export const TABLES = [OPERATORS, SECRETS];

const parseToken = createParser({ ...SECRETS.codecs, operator: text });

function parseOperator({
  foldedName: _folded,
  lastSignInAt: _last,
  ...operator
}: Stored<typeof OPERATORS>): Operator {
  return operator;
}

function toListed({ foldedName: _folded, ...operator }: Stored<typeof OPERATORS>): ListedOperator {
  return operator;
}

export function toTarget({ name }: Pick<Operator, 'name'>): Target {
  return { kind: 'operator', name };
}

function noOperator(id: number) {
  return { error: 'not_found', message: `There is no operator ${id}.` } as const;
}

/** Until the commit, nobody else can remove the operator. */
export async function lockOperator(transaction: Transaction, condition: Sql): Promise<Operator | undefined> {
  const [row] = await transaction.select(
    OPERATORS,
    sql`WHERE ${condition} ${transaction.dialect.forUpdate()}`,
  );
  return row && parseOperator(row);
}

async function createOperator(
  transaction: Transaction,
  actor: Actor,
  name: string,
  role: Role,
): Promise<Result<Operator, 'conflict'>> {
  const folded = foldedName(name);
  const insert = OPERATORS.insert({ name, foldedName: folded, role, createdAt: await transaction.now() });
  const [row] = await transaction.query(sql`${insert} ON CONFLICT DO NOTHING RETURNING ${OPERATORS.list}`);
  if (row === undefined) {
    const [other] = await transaction.select(OPERATORS, sql`WHERE folded_name = ${folded}`);
    const message = `There is an operator ${other?.name ?? name} already; the case of a name does not count.`;
    return { error: 'conflict', message };
  }
  const operator = parseOperator(OPERATORS.parse(row));
  await addAudit(transaction, actor, {
    action: 'operators create',
    target: toTarget(operator),
    after: { role },
  });
  return { value: operator };
}

async function removeOperator(
  transaction: Transaction,
  actor: Actor,
  id: number,
): Promise<Result<Operator, 'not_found'>> {
  const [row] = await transaction.query(
    sql`DELETE FROM operators WHERE id = ${id} RETURNING ${OPERATORS.list}`,
  );
  if (row === undefined) return noOperator(id);
  const operator = parseOperator(OPERATORS.parse(row));
  await addAudit(transaction, actor, {
    action: 'operators remove',
    target: toTarget(operator),
    before: { role: operator.role },
  });
  return { value: operator };
}

async function addSecret(
  transaction: Transaction,
  operatorId: number,
  kind: SecretKind,
  secret: SecretHash,
  expiresAt: number | undefined,
  passkeyId?: number,
): Promise<number> {
  const row = { operatorId, kind, hash: secret, createdAt: await transaction.now(), expiresAt, passkeyId };
  const [id] = await transaction.add(SECRETS, [row]);
  return Number(id);
}

/** Gives back when the link ends. */
async function createLink(
  transaction: Transaction,
  actor: Actor,
  operatorId: number,
  link: SecretHash,
): Promise<Result<number, 'not_found'>> {
  const operator = await lockOperator(transaction, sql`id = ${operatorId}`);
  if (operator === undefined) return noOperator(operatorId);
  const expiresAt = (await transaction.now()) + LINK_LIFETIME;
  await addSecret(transaction, operatorId, 'link', link, expiresAt);
  await addAudit(transaction, actor, {
    action: 'operators link',
    target: toTarget(operator),
    after: { expiresAt: textFromInstant(expiresAt) },
  });
  return { value: expiresAt };
}

async function createToken(
  transaction: Transaction,
  actor: Actor,
  operatorId: number,
  token: SecretHash,
  expiresAt: number | undefined,
): Promise<Result<OperatorToken, 'not_found' | 'invalid_request'>> {
  const operator = await lockOperator(transaction, sql`id = ${operatorId}`);
  if (operator === undefined) return noOperator(operatorId);
  const createdAt = await transaction.now();
  if (expiresAt !== undefined && expiresAt <= createdAt)
    return { error: 'invalid_request', message: 'The end of a token must lie in the future.' };
  const id = await addSecret(transaction, operatorId, 'token', token, expiresAt);
  await addAudit(transaction, actor, {
    action: 'operators token',
    target: toTarget(operator),
    after: { token: id, expiresAt: instantOrNull(expiresAt) },
  });
  return { value: { id, operator: operator.name, createdAt, expiresAt } };
}

async function revokeToken(
  transaction: Transaction,
  actor: Actor,
  id: number,
): Promise<Result<undefined, 'not_found'>> {
  const token = sql`FROM operator_secrets WHERE id = ${id} AND kind = 'token'`;
  const operator = await lockOperator(transaction, sql`id = (SELECT operator_id ${token})`);
  // Another process may have revoked it while this one waited for the lock.
  const revoked = await transaction.query(sql`DELETE ${token} RETURNING 1`);
  if (operator === undefined || revoked.length === 0)
    return { error: 'not_found', message: `There is no token ${id}.` };
  await addAudit(transaction, actor, {
    action: 'operators revoke-token',
    target: toTarget(operator),
    before: { token: id },
  });
  return { value: undefined };
}

async function signOut(transaction: Transaction, session: SecretHash): Promise<void> {
  await transaction.query(sql`DELETE FROM operator_secrets WHERE hash = ${session} AND kind = 'session'`);
}

/** Deletes links, sessions and tokens that have ended. */
async function prune(transaction: Transaction): Promise<void> {
  await transaction.query(sql`DELETE FROM operator_secrets WHERE expires_at <= ${await transaction.now()}`);
}

/** A browser that signs in: the hash of its new session, its address, and the session that it has until now. */
export interface NewSession {
  readonly session: SecretHash;
  readonly address: string | undefined;
  readonly earlier: SecretHash | undefined;
}

/**
 * Begins the session of an operator whose row is locked, as the last step of its transaction. `earlier`, the session that
 * the browser has, ends: nobody uses it any more.
 */
export async function beginSession(
  transaction: Transaction,
  operator: Operator,
  { session, address, earlier }: NewSession,
  passkey?: { readonly id: number; readonly name: string },
): Promise<void> {
  const now = await transaction.now();
  const expiresAt = now + SESSION_LIFETIME;
  await transaction.query(
    sql`UPDATE operators SET ${OPERATORS.set({ lastSignInAt: now })} WHERE id = ${operator.id}`,
  );
  await addSecret(transaction, operator.id, 'session', session, expiresAt, passkey?.id);
  const actor: Actor = { kind: 'operator', name: operator.name, address };
  await addAudit(transaction, actor, {
    action: 'sign in',
    target: toTarget(operator),
    after: passkey && { passkey: passkey.id, name: passkey.name },
  });
  // This delete is last: a transaction that waits for this row then takes no more locks.
  if (earlier !== undefined) await signOut(transaction, earlier);
}

/** Ends a sign-in link that is in force and begins a session in its place: a link works once. */
async function signIn(
  transaction: Transaction,
  link: SecretHash,
  session: NewSession,
): Promise<Result<Operator, 'unauthorized'>> {
  const now = await transaction.now();
  const inForce = sql`FROM operator_secrets WHERE hash = ${link} AND kind = 'link' AND expires_at > ${now}`;
  // The operator's row first, in the order in which a removal locks these rows: otherwise the two could deadlock.
  const operator = await lockOperator(transaction, sql`id = (SELECT operator_id ${inForce})`);
  if (operator === undefined) return { error: 'unauthorized' };
  const used = await transaction.query(sql`DELETE ${inForce} RETURNING 1`);
  if (used.length === 0) return { error: 'unauthorized' };
  await beginSession(transaction, operator, session);
  return { value: operator };
}

export const WRITES = {
  create: createOperator,
  remove: removeOperator,
  createLink,
  createToken,
  revokeToken,
  signIn,
  signOut,
  prune,
};

/** There are fewer operators and tokens than this. */
const WHOLE: PageQuery = { limit: Number.MAX_SAFE_INTEGER - 1 };

/** A new link. Its secret is known only now. */
export interface SignInLink {
  readonly secret: OperatorSecret;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** A new token. Its text is known only now. */
export interface IssuedToken {
  readonly token: OperatorSecret;
  readonly record: OperatorToken;
}

/** A browser that has signed in. */
export interface Session {
  readonly operator: Operator;
  readonly session: OperatorSecret;
}

/** The secret of a new session, and what a sign-in stores of it. `earlier` is the text of the browser's session. */
export function newSession(address: string | undefined, earlier: string | undefined) {
  const session = OperatorSecret.generate('session', randomBytes);
  const ended = earlier === undefined ? undefined : OperatorSecret.parse('session', earlier)?.hash();
  const stored: NewSession = { session: session.hash(), address, earlier: ended };
  return { session, stored };
}

export type OperatorRepository = ReturnType<typeof open>;

export function open(engine: Engine) {
  const now = async () => Math.floor(await engine.now());

  /** Oldest first. Without a query, the whole list. */
  async function list({ limit, cursor = 0n }: PageQuery = WHOLE): Promise<Page<ListedOperator>> {
    const rows = await engine.select(OPERATORS, sql`WHERE id > ${cursor} ORDER BY id LIMIT ${limit + 1}`);
    return toPage(rows.map(toListed), limit);
  }

  return {
    list,
    /** Ignores the case of the name. The message of `not_found` suggests the name that is probably meant. */
    async find(name: string): Promise<Result<Operator, 'not_found'>> {
      const [row] = await engine.select(OPERATORS, sql`WHERE folded_name = ${foldedName(name)}`);
      if (row !== undefined) return { value: parseOperator(row) };
      const names = (await list()).items.map((operator) => operator.name);
      return { error: 'not_found', message: `There is no operator ${name}.${didYouMean(name, names)}` };
    },
    /** `conflict`: another operator has the name, ignoring case. */
    async create(
      actor: Actor,
      name: string,
      role: Role,
    ): Promise<Result<Operator, 'invalid_request' | 'conflict'>> {
      const issue = findNameIssue('operator', name);
      if (issue !== undefined) return issue;
      return engine.write(createOperator, actor, name, role);
    },
    /** Ends all links, sessions and tokens of the operator at once, on every instance. */
    remove: (actor: Actor, id: number) => engine.write(removeOperator, actor, id),
    /** Makes a link that signs in once. */
    async createLink(actor: Actor, operatorId: number): Promise<Result<SignInLink, 'not_found'>> {
      const secret = OperatorSecret.generate('link', randomBytes);
      const created = await engine.write(createLink, actor, operatorId, secret.hash());
      return mapResult(created, (expiresAt) => ({ secret, expiresAt }));
    },
    /** `expiresAt` is in Unix milliseconds. Without it, the token ends with its operator. */
    async createToken(
      actor: Actor,
      operatorId: number,
      expiresAt: number | undefined,
    ): Promise<Result<IssuedToken, 'not_found' | 'invalid_request'>> {
      const token = OperatorSecret.generate('token', randomBytes);
      const created = await engine.write(createToken, actor, operatorId, token.hash(), expiresAt);
      return mapResult(created, (record) => ({ token, record }));
    },
    /** Ends a token at once, on every instance. */
    revokeToken: (actor: Actor, id: number) => engine.write(revokeToken, actor, id),
    /** The tokens of all operators that are in force, oldest first. Without a query, the whole list. */
    async listTokens({ limit, cursor = 0n }: PageQuery = WHOLE): Promise<Page<OperatorToken>> {
      const rows = await engine.query(sql`
        SELECT ${SECRETS.listAs('s')}, o.name FROM operator_secrets s JOIN operators o ON o.id = s.operator_id
        WHERE s.kind = 'token' AND (s.expires_at IS NULL OR s.expires_at > ${await now()}) AND s.id > ${cursor}
        ORDER BY s.id LIMIT ${limit + 1}`);
      const tokens = rows.map(parseToken).map(({ id, operator, createdAt, expiresAt }) => ({
        id,
        operator,
        createdAt,
        expiresAt,
      }));
      return toPage(tokens, limit);
    },
    /** The operator of a session or token that is in force. A text of another format needs no query. */
    async authenticate(kind: 'session' | 'token', secret: string): Promise<Operator | undefined> {
      const parsed = OperatorSecret.parse(kind, secret);
      if (parsed === undefined) return undefined;
      const [row] = await engine.select(
        OPERATORS,
        sql`WHERE id = (SELECT operator_id FROM operator_secrets WHERE hash = ${parsed.hash()} AND kind = ${kind}
          AND (expires_at IS NULL OR expires_at > ${await now()}))`,
      );
      return row && parseOperator(row);
    },
    /**
     * Uses up a link, and begins a session with a new secret in its place. `address` is the client's. The session with the
     * text `earlier` ends. `unauthorized`: the link is used, expired, mistyped or unknown.
     */
    async signIn(
      link: string,
      address: string | undefined,
      earlier?: string,
    ): Promise<Result<Session, 'unauthorized'>> {
      const parsed = OperatorSecret.parse('link', link);
      if (parsed === undefined) return { error: 'unauthorized' };
      const { session, stored } = newSession(address, earlier);
      const signedIn = await engine.write(signIn, parsed.hash(), stored);
      return mapResult(signedIn, (operator) => ({ operator, session }));
    },
    /** Ends a session at once, on every instance. A text that is no session changes nothing. */
    async signOut(session: string): Promise<void> {
      const parsed = OperatorSecret.parse('session', session);
      if (parsed !== undefined) await engine.write(signOut, parsed.hash());
    },
    /** Deletes links, sessions and tokens that have ended. */
    prune: () => engine.write(prune),
  };
}
