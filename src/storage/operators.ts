// Contract: section 10.
import type { Author } from '../domain/audit.ts';
import type { Operator, OperatorToken, Role, SecretHash } from '../domain/operator.ts';
import { foldedName } from '../domain/text.ts';
import { addAudit } from './audit.ts';
import type { Engine, Transaction } from './engine.ts';
import { columnsOf, insertInto, type RowOf, type Table } from './tables.ts';

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

type SecretKind = 'link' | 'session' | 'token';

const SELECT = `SELECT ${columnsOf(OPERATORS, 'o')} FROM operators o`;

const ADD = `${insertInto(OPERATORS, ['name', 'folded_name', 'role', 'created_at'])} ON CONFLICT DO NOTHING
  RETURNING ${columnsOf(OPERATORS)}`;

const ADD_SECRET = `${insertInto(SECRETS, ['operator_id', 'kind', 'hash', 'created_at', 'expires_at'])} RETURNING id`;

function operatorFromRow([id, name, , role, createdAt]: RowOf<typeof OPERATORS>): Operator {
  return { id: Number(id), name, role: role as Role, createdAt: Number(createdAt) };
}

/** Adds an operator, or returns undefined when the name is taken. */
async function addOperator(
  transaction: Transaction,
  author: Author,
  name: string,
  role: Role,
): Promise<Operator | undefined> {
  const values = [name, foldedName(name), role, await transaction.now()];
  const [row] = await transaction.query<RowOf<typeof OPERATORS>>(ADD, values);
  if (row === undefined) return undefined;
  const target = { kind: 'operator', name } as const;
  await addAudit(transaction, author, { action: 'operators create', target, after: { role } });
  return operatorFromRow(row);
}

/** Removes an operator with all links, sessions and tokens. Returns false when there is none. */
async function removeOperator(transaction: Transaction, author: Author, name: string): Promise<boolean> {
  const [row] = await transaction.query<[name: string, role: string]>(
    'DELETE FROM operators WHERE folded_name = $1 RETURNING name, role',
    [foldedName(name)],
  );
  if (row === undefined) return false;
  const target = { kind: 'operator', name: row[0] } as const;
  await addAudit(transaction, author, { action: 'operators remove', target, before: { role: row[1] } });
  return true;
}

/** Adds a token that ends at `expiresAt` (Unix milliseconds). Returns its id. */
async function addToken(
  transaction: Transaction,
  author: Author,
  operator: Operator,
  secret: SecretHash,
  expiresAt: number | null,
): Promise<number> {
  const id = await addSecret(transaction, operator.id, 'token', secret, expiresAt);
  const target = { kind: 'operator', name: operator.name } as const;
  await addAudit(transaction, author, { action: 'operators token', target, after: { token: id, expiresAt } });
  return id;
}

async function addSecret(
  transaction: Transaction,
  operatorId: number,
  kind: SecretKind,
  secret: SecretHash,
  expiresAt: number | null,
): Promise<number> {
  const now = await transaction.now();
  const [row] = await transaction.query<[bigint]>(ADD_SECRET, [operatorId, kind, secret, now, expiresAt]);
  return Number(row?.[0]);
}

/**
 * Ends a sign-in link that is in force and begins a session in its place: a link works once.
 * Returns the operator, or undefined when the link is used, expired or unknown.
 */
async function signIn(
  transaction: Transaction,
  link: SecretHash,
  session: SecretHash,
  lifetime: number,
): Promise<Operator | undefined> {
  const now = await transaction.now();
  const [used] = await transaction.query<[operatorId: bigint, expiresAt: bigint]>(
    `DELETE FROM operator_secrets WHERE hash = $1 AND kind = 'link' RETURNING operator_id, expires_at`,
    [link],
  );
  if (used === undefined || Number(used[1]) <= now) return undefined;
  const [row] = await transaction.query<RowOf<typeof OPERATORS>>(`${SELECT} WHERE o.id = $1`, [used[0]]);
  if (row === undefined) return undefined;
  await addSecret(transaction, Number(used[0]), 'session', session, now + lifetime);
  return operatorFromRow(row);
}

/** Adds a link that works for `lifetime` milliseconds. */
async function addLink(
  transaction: Transaction,
  operatorId: number,
  link: SecretHash,
  lifetime: number,
): Promise<void> {
  await addSecret(transaction, operatorId, 'link', link, (await transaction.now()) + lifetime);
}

export const WRITES = { addOperator, removeOperator, addToken, addLink, signIn };

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
    /** Resolves with undefined when the name is taken, ignoring case. */
    add: (author: Author, name: string, role: Role) => engine.write(addOperator, author, name, role),
    /** Ends all links, sessions and tokens of the operator at once. False when there is none. */
    remove: (author: Author, name: string) => engine.write(removeOperator, author, name),
    /** Adds a link that signs in once within `lifetime` milliseconds. */
    addLink: (operator: Operator, link: SecretHash, lifetime: number) =>
      engine.write(addLink, operator.id, link, lifetime),
    /** `lifetime` of the session is in milliseconds. */
    signIn: (link: SecretHash, session: SecretHash, lifetime: number) =>
      engine.write(signIn, link, session, lifetime),
    addToken: (author: Author, operator: Operator, token: SecretHash, expiresAt: number | undefined) =>
      engine.write(addToken, author, operator, token, expiresAt ?? null),
    /** The tokens of all operators that are in force, oldest first. */
    async tokens(): Promise<readonly OperatorToken[]> {
      const rows = await engine.read<readonly [bigint, string, bigint, bigint | null]>(
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
    async authenticate(kind: 'session' | 'token', secret: SecretHash): Promise<Operator | undefined> {
      const [row] = await engine.read<RowOf<typeof OPERATORS>>(
        `${SELECT} JOIN operator_secrets s ON s.operator_id = o.id
         WHERE s.hash = $1 AND s.kind = $2 AND (s.expires_at IS NULL OR s.expires_at > $3)`,
        [secret, kind, Math.floor(await engine.now())],
      );
      return row && operatorFromRow(row);
    },
    /** Ends a session at once. */
    async signOut(session: SecretHash): Promise<void> {
      await engine.change(`DELETE FROM operator_secrets WHERE hash = $1 AND kind = 'session'`, [session]);
    },
    /** Deletes links, sessions and tokens that have ended. */
    async prune(): Promise<void> {
      await engine.change('DELETE FROM operator_secrets WHERE expires_at <= $1', [
        Math.floor(await engine.now()),
      ]);
    },
  };
}
