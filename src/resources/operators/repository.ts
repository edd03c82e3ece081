// Contract: section 10.
import type { Actor, Target } from '../../domain/audit.ts';
import { instantOrNull, textFromInstant } from '../../domain/instant.ts';
import type { Operator, OperatorToken, Role, SecretHash, SecretKind } from '../../domain/operator.ts';
import type { Result } from '../../domain/result.ts';
import { foldedName } from '../../domain/text.ts';
import { addAudit } from '../audit/repository.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Engine } from '../../storage/engine.ts';
import { columnsOf, insertInto, type RowOf, type Table } from '../../storage/tables.ts';

const OPERATORS = {
  name: 'operators',
  key: ['id'],
  columns: [
    ['id', 'integer'],
    ['name', 'text'],
    ['folded_name', 'text'],
    ['role', 'text'],
    ['created_at', 'integer'],
  ],
  assignsIds: true,
} as const satisfies Table;

const SECRETS = {
  name: 'operator_secrets',
  key: ['id'],
  columns: [
    ['id', 'integer'],
    ['operator_id', 'integer'],
    ['kind', 'text'],
    ['hash', 'text'],
    ['created_at', 'integer'],
    ['expires_at', 'integer?'],
  ],
  assignsIds: true,
} as const satisfies Table;

export const TABLES = [OPERATORS, SECRETS];

const SELECT = `SELECT ${columnsOf(OPERATORS, 'o')} FROM operators o`;

const ADD = `${insertInto(OPERATORS, ['name', 'folded_name', 'role', 'created_at'])} ON CONFLICT DO NOTHING
  RETURNING ${columnsOf(OPERATORS)}`;

const LOCK = 'SELECT 1 FROM operators WHERE id = $1 FOR UPDATE';

const TOKEN_OF = `SELECT o.name FROM operators o JOIN operator_secrets s ON s.operator_id = o.id
  WHERE s.id = $1 AND s.kind = 'token' FOR UPDATE OF o`;

const ADD_SECRET = `${insertInto(SECRETS, ['operator_id', 'kind', 'hash', 'created_at', 'expires_at'])} RETURNING id`;

const OPERATOR_OF_LINK = `${SELECT} JOIN operator_secrets s ON s.operator_id = o.id
  WHERE s.hash = $1 AND s.kind = 'link' AND s.expires_at > $2 FOR UPDATE OF o`;

const END_SESSION = `DELETE FROM operator_secrets WHERE hash = $1 AND kind = 'session'`;

const USE_LINK = `DELETE FROM operator_secrets WHERE hash = $1 AND kind = 'link' RETURNING 1`;

/** The columns of a token's record. */
type TokenRow = readonly [id: bigint, operator: string, createdAt: bigint, expiresAt: bigint | null];

function operatorFromRow([id, name, , role, createdAt]: RowOf<typeof OPERATORS>): Operator {
  return { id: Number(id), name, role: role as Role, createdAt: Number(createdAt) };
}

/** `conflict`: the name is taken. */
async function addOperator(
  transaction: Transaction,
  actor: Actor,
  name: string,
  role: Role,
): Promise<Result<Operator, 'conflict'>> {
  const values = [name, foldedName(name), role, await transaction.now()];
  const [row] = await transaction.query<RowOf<typeof OPERATORS>>(ADD, values);
  if (row === undefined) return { error: 'conflict' };
  const operator = operatorFromRow(row);
  await addAudit(transaction, actor, {
    action: 'operators create',
    target: targetOf(operator),
    after: { role },
  });
  return { value: operator };
}

/** Removes an operator with all links, sessions and tokens. */
async function removeOperator(
  transaction: Transaction,
  actor: Actor,
  name: string,
): Promise<Result<undefined, 'not_found'>> {
  const [row] = await transaction.query<[name: string, role: string]>(
    'DELETE FROM operators WHERE folded_name = $1 RETURNING name, role',
    [foldedName(name)],
  );
  if (row === undefined) return { error: 'not_found' };
  const [removed, role] = row;
  await addAudit(transaction, actor, {
    action: 'operators remove',
    target: targetOf({ name: removed }),
    before: { role },
  });
  return { value: undefined };
}

/** Adds a token that ends at `expiresAt` (Unix milliseconds). */
async function addToken(
  transaction: Transaction,
  actor: Actor,
  operator: Operator,
  secret: SecretHash,
  expiresAt: number | undefined,
): Promise<Result<OperatorToken, 'not_found'>> {
  if ((await transaction.query(LOCK, [operator.id])).length === 0) return { error: 'not_found' };
  const createdAt = await transaction.now();
  const id = await addSecret(transaction, operator.id, 'token', secret, createdAt, expiresAt);
  const after = { token: id, expiresAt: instantOrNull(expiresAt) };
  await addAudit(transaction, actor, { action: 'operators token', target: targetOf(operator), after });
  return { value: { id, operator: operator.name, createdAt, expiresAt } };
}

async function removeToken(
  transaction: Transaction,
  actor: Actor,
  id: number,
): Promise<Result<undefined, 'not_found'>> {
  const [row] = await transaction.query<[name: string]>(TOKEN_OF, [id]);
  if (row === undefined) return { error: 'not_found' };
  await transaction.query('DELETE FROM operator_secrets WHERE id = $1', [id]);
  const target = targetOf({ name: row[0] });
  await addAudit(transaction, actor, { action: 'operators revoke-token', target, before: { token: id } });
  return { value: undefined };
}

/** Adds a link that works for `lifetime` milliseconds. Gives back when it ends. */
async function addLink(
  transaction: Transaction,
  actor: Actor,
  operator: Operator,
  link: SecretHash,
  lifetime: number,
): Promise<Result<number, 'not_found'>> {
  if ((await transaction.query(LOCK, [operator.id])).length === 0) return { error: 'not_found' };
  const now = await transaction.now();
  const expiresAt = now + lifetime;
  await addSecret(transaction, operator.id, 'link', link, now, expiresAt);
  const change = {
    action: 'operators link',
    target: targetOf(operator),
    after: { expiresAt: textFromInstant(expiresAt) },
  };
  await addAudit(transaction, actor, change);
  return { value: expiresAt };
}

async function addSecret(
  transaction: Transaction,
  operatorId: number,
  kind: SecretKind,
  secret: SecretHash,
  createdAt: number,
  expiresAt: number | undefined,
): Promise<number> {
  const values = [operatorId, kind, secret, createdAt, expiresAt ?? null];
  const [row] = await transaction.query<[bigint]>(ADD_SECRET, values);
  return Number(row?.[0]);
}

function targetOf({ name }: Pick<Operator, 'name'>): Target {
  return { kind: 'operator', name };
}

type SignIn = readonly [link: SecretHash, session: SecretHash, ms: number, from?: string, old?: SecretHash];

/**
 * Ends a sign-in link that is in force and begins a session in its place: a link works once. `earlier`, the session that the
 * browser has, ends too: nobody uses it any more. Returns the operator, or undefined when the link is used, expired or unknown.
 */
async function signIn(
  transaction: Transaction,
  ...[link, session, lifetime, address, earlier]: SignIn
): Promise<Operator | undefined> {
  const now = await transaction.now();
  // The operator's row first, in the order in which a removal locks these rows: otherwise the two could deadlock.
  const [row] = await transaction.query<RowOf<typeof OPERATORS>>(OPERATOR_OF_LINK, [link, now]);
  if (row === undefined) return undefined;
  const used = await transaction.query(USE_LINK, [link]);
  if (used.length === 0) return undefined;
  const operator = operatorFromRow(row);
  const { id, name } = operator;
  await addSecret(transaction, id, 'session', session, now, now + lifetime);
  const actor: Actor = { kind: 'operator', name, address };
  await addAudit(transaction, actor, { action: 'sign in', target: targetOf(operator) });
  // This delete is last: a transaction that waits for this row then takes no more locks.
  if (earlier !== undefined) await transaction.query(END_SESSION, [earlier]);
  return operator;
}

export const WRITES = { add: addOperator, remove: removeOperator, addToken, removeToken, addLink, signIn };

export type OperatorRepository = ReturnType<typeof open>;

export function open(engine: Engine) {
  return {
    async list(): Promise<readonly Operator[]> {
      return (await engine.read<RowOf<typeof OPERATORS>>(`${SELECT} ORDER BY o.id`)).map(operatorFromRow);
    },
    async find(name: string): Promise<Operator | undefined> {
      const [row] = await engine.read<RowOf<typeof OPERATORS>>(`${SELECT} WHERE o.folded_name = $1`, [
        foldedName(name),
      ]);
      return row && operatorFromRow(row);
    },
    async get(id: number): Promise<Operator | undefined> {
      const [row] = await engine.read<RowOf<typeof OPERATORS>>(`${SELECT} WHERE o.id = $1`, [id]);
      return row && operatorFromRow(row);
    },
    /** `conflict`: the name is taken, ignoring case. */
    add: (actor: Actor, name: string, role: Role) => engine.write(addOperator, actor, name, role),
    /** Ends all links, sessions and tokens of the operator at once. */
    remove: (actor: Actor, name: string) => engine.write(removeOperator, actor, name),
    /** Adds a link that signs in once within `lifetime` milliseconds. Gives back when it ends. */
    addLink: (actor: Actor, operator: Operator, link: SecretHash, lifetime: number) =>
      engine.write(addLink, actor, operator, link, lifetime),
    /** `lifetime` of the session is in milliseconds, `address` the client's. A sign-in ends the session `earlier`. */
    signIn: (...asked: SignIn) => engine.write(signIn, ...asked),
    addToken: (actor: Actor, operator: Operator, token: SecretHash, expiresAt: number | undefined) =>
      engine.write(addToken, actor, operator, token, expiresAt),
    /** Ends a token at once. */
    removeToken: (actor: Actor, id: number) => engine.write(removeToken, actor, id),
    /** The tokens of all operators that are in force, oldest first. */
    async tokens(): Promise<readonly OperatorToken[]> {
      const rows = await engine.read<TokenRow>(
        `SELECT s.id, o.name, s.created_at, s.expires_at FROM operator_secrets s JOIN operators o ON o.id = s.operator_id
         WHERE s.kind = 'token' AND (s.expires_at IS NULL OR s.expires_at > $1) ORDER BY s.id`,
        [Math.floor(await engine.now())],
      );
      return rows.map(([id, operator, createdAt, expiresAt]) => ({
        id: Number(id),
        operator,
        createdAt: Number(createdAt),
        expiresAt: expiresAt === null ? undefined : Number(expiresAt),
      }));
    },
    /** The operator of a session or token that is in force. */
    async authenticate(kind: SecretKind, secret: SecretHash): Promise<Operator | undefined> {
      const [row] = await engine.read<RowOf<typeof OPERATORS>>(
        `${SELECT} JOIN operator_secrets s ON s.operator_id = o.id
         WHERE s.hash = $1 AND s.kind = $2 AND (s.expires_at IS NULL OR s.expires_at > $3)`,
        [secret, kind, Math.floor(await engine.now())],
      );
      return row && operatorFromRow(row);
    },
    /** Ends a session at once. */
    signOut: async (session: SecretHash): Promise<void> => void (await engine.change(END_SESSION, [session])),
    /** Deletes links, sessions and tokens that have ended. */
    async prune(): Promise<void> {
      await engine.change('DELETE FROM operator_secrets WHERE expires_at <= $1', [
        Math.floor(await engine.now()),
      ]);
    },
  };
}
