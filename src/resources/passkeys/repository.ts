// Contract: section 10.1.
import { randomBytes } from 'node:crypto';
import type { Actor } from '../../domain/audit.ts';
import type { Operator } from '../../domain/operator.ts';
import { type Page, type PageQuery, toPage } from '../../domain/page.ts';
import { mapResult, type Result } from '../../domain/result.ts';
import { findNameIssue } from '../../domain/text.ts';
import type { Engine } from '../../storage/engine.ts';
import { type Sql, sql } from '../../storage/sql.ts';
import {
  createParser,
  instant,
  integer,
  optional,
  type RowObject,
  Table,
  text,
} from '../../storage/table.ts';
import type { Transaction } from '../../storage/transaction.ts';
import { addAudit } from '../audit/repository.ts';
import {
  beginSession,
  lockOperator,
  type NewSession,
  newSession,
  type Session,
  toTarget,
} from '../operators/repository.ts';
import { CHALLENGE_LIFETIME, type Credential, MOST_PASSKEYS, NO_ROOM, type Passkey } from './rules.ts';

const PASSKEYS = new Table(
  'passkeys',
  {
    id: integer,
    operatorId: integer,
    name: text,
    credential: text,
    publicKey: text,
    counter: integer,
    createdAt: instant,
    lastUsedAt: optional(instant),
  },
  { key: ['id'], assignsIds: true },
);

const CHALLENGES = new Table(
  'passkey_challenges',
  { challenge: text, operatorId: optional(integer), expiresAt: instant },
  { key: ['challenge'] },
);

export const TABLES = [PASSKEYS, CHALLENGES];

const WITH_OPERATOR = { ...PASSKEYS.codecs, operator: text };
const parse = createParser(WITH_OPERATOR);

function parsePasskey(row: RowObject<typeof WITH_OPERATOR>): Passkey {
  const { id, operatorId, operator, name, createdAt, lastUsedAt } = row;
  return { id, operatorId, operator, name, createdAt, lastUsedAt };
}

const CHALLENGE_ENDED = 'The challenge was used, or its 5 minutes are over: add the passkey again.';
const ADDED_ALREADY = 'This passkey was added already.';

function noPasskey(id: number) {
  return { error: 'not_found', message: `There is no passkey ${id}.` } as const;
}

/** Without `operatorId`, the challenge signs in. */
async function addChallenge(
  transaction: Transaction,
  challenge: string,
  operatorId: number | undefined,
): Promise<void> {
  const expiresAt = (await transaction.now()) + CHALLENGE_LIFETIME;
  await transaction.run(CHALLENGES.insert({ challenge, operatorId, expiresAt }));
}

/** Whether the challenge was in force. It is not any more. */
async function useChallenge(
  transaction: Transaction,
  challenge: string,
  operatorId: number | undefined,
): Promise<boolean> {
  const purpose = operatorId === undefined ? sql`operator_id IS NULL` : sql`operator_id = ${operatorId}`;
  const used = await transaction.query(
    sql`DELETE FROM passkey_challenges
      WHERE challenge = ${challenge} AND ${purpose} AND expires_at > ${await transaction.now()} RETURNING 1`,
  );
  return used.length > 0;
}

async function createPasskey(
  transaction: Transaction,
  actor: Actor,
  operatorId: number,
  name: string,
  credential: Credential,
  challenge: string,
): Promise<Result<Passkey, 'unauthorized' | 'invalid_request' | 'conflict'>> {
  const operator = await lockOperator(transaction, sql`id = ${operatorId}`);
  if (operator === undefined) return { error: 'unauthorized' };
  if (!(await useChallenge(transaction, challenge, operatorId)))
    return { error: 'invalid_request', message: CHALLENGE_ENDED };
  const others = await transaction.query(sql`SELECT 1 FROM passkeys WHERE operator_id = ${operatorId}`);
  if (others.length >= MOST_PASSKEYS) return NO_ROOM;
  const createdAt = await transaction.now();
  const insert = PASSKEYS.insert({ operatorId, name, ...credential, createdAt });
  const [row] = await transaction.query(sql`${insert} ON CONFLICT DO NOTHING RETURNING ${PASSKEYS.list}`);
  if (row === undefined) return { error: 'conflict', message: ADDED_ALREADY };
  const passkey = parsePasskey({ ...PASSKEYS.parse(row), operator: operator.name });
  await addAudit(transaction, actor, {
    action: 'passkeys create',
    target: toTarget(operator),
    after: { passkey: passkey.id, name },
  });
  return { value: passkey };
}

/** Locks the operator of a passkey, and then the passkey. */
async function lockPasskey(transaction: Transaction, id: number) {
  const operator = await lockOperator(
    transaction,
    sql`id = (SELECT operator_id FROM passkeys WHERE id = ${id})`,
  );
  // Another process may have removed it while this one waited for the lock.
  const [row] = await transaction.select(PASSKEYS, sql`WHERE id = ${id} ${transaction.dialect.forUpdate()}`);
  return operator && row && { operator, row };
}

async function renamePasskey(
  transaction: Transaction,
  actor: Actor,
  id: number,
  name: string,
): Promise<Result<Passkey, 'not_found'>> {
  const locked = await lockPasskey(transaction, id);
  if (locked === undefined) return noPasskey(id);
  const { operator, row } = locked;
  const passkey = parsePasskey({ ...row, name, operator: operator.name });
  if (name === row.name) return { value: passkey };
  await transaction.run(sql`UPDATE passkeys SET ${PASSKEYS.set({ name })} WHERE id = ${id}`);
  await addAudit(transaction, actor, {
    action: 'passkeys rename',
    target: toTarget(operator),
    before: { passkey: id, name: row.name },
    after: { passkey: id, name },
  });
  return { value: passkey };
}

async function removePasskey(
  transaction: Transaction,
  actor: Actor,
  id: number,
): Promise<Result<Passkey, 'not_found'>> {
  const locked = await lockPasskey(transaction, id);
  if (locked === undefined) return noPasskey(id);
  const { operator, row } = locked;
  await transaction.run(
    sql`DELETE FROM passkeys WHERE id = ${id}`,
    sql`DELETE FROM operator_secrets WHERE passkey_id = ${id} AND operator_id = ${operator.id}`,
  );
  await addAudit(transaction, actor, {
    action: 'passkeys remove',
    target: toTarget(operator),
    before: { passkey: id, name: row.name },
  });
  return { value: parsePasskey({ ...row, operator: operator.name }) };
}

/** A sign-in whose signature is valid. */
interface Assertion {
  readonly passkeyId: number;
  readonly challenge: string;
  /** The counter with which the signature was verified, and the one that the authenticator has now. */
  readonly counter: number;
  readonly newCounter: number;
}

/** Uses up the challenge and begins a session in its place. Of two sign-ins that saw the same counter, one wins. */
async function signIn(
  transaction: Transaction,
  { passkeyId, challenge, counter, newCounter }: Assertion,
  session: NewSession,
): Promise<Result<Operator, 'unauthorized'>> {
  const locked = await lockPasskey(transaction, passkeyId);
  const isFresh = await useChallenge(transaction, challenge, undefined);
  if (locked === undefined || !isFresh || locked.row.counter !== counter) return { error: 'unauthorized' };
  const lastUsedAt = await transaction.now();
  const changes = PASSKEYS.set({ counter: newCounter, lastUsedAt });
  await transaction.run(sql`UPDATE passkeys SET ${changes} WHERE id = ${passkeyId}`);
  await beginSession(transaction, locked.operator, session, locked.row);
  return { value: locked.operator };
}

/** Deletes challenges that have ended. */
async function prune(transaction: Transaction): Promise<void> {
  await transaction.query(sql`DELETE FROM passkey_challenges WHERE expires_at <= ${await transaction.now()}`);
}

export const WRITES = {
  addChallenge,
  create: createPasskey,
  rename: renamePasskey,
  remove: removePasskey,
  signIn,
  prune,
};

/** 256 random bits. */
const CHALLENGE_BYTES = 32;

/** There are fewer passkeys than this. */
const WHOLE: PageQuery = { limit: Number.MAX_SAFE_INTEGER - 1 };

interface PasskeyQuery extends PageQuery {
  readonly operatorId?: number | undefined;
}

export type PasskeyRepository = ReturnType<typeof open>;

export function open(engine: Engine) {
  const read = async (end: Sql) =>
    (
      await engine.query(
        sql`SELECT ${PASSKEYS.listAs('p')}, o.name FROM passkeys p JOIN operators o ON o.id = p.operator_id ${end}`,
      )
    ).map(parse);

  return {
    /** Those of all operators or of one, oldest first. Without a query, the whole list. */
    async list({ limit, cursor = 0n, operatorId }: PasskeyQuery = WHOLE): Promise<Page<Passkey>> {
      const filter = operatorId === undefined ? sql`` : sql`AND p.operator_id = ${operatorId}`;
      const rows = await read(sql`WHERE p.id > ${cursor} ${filter} ORDER BY p.id LIMIT ${limit + 1}`);
      return toPage(rows.map(parsePasskey), limit);
    },
    async get(id: number): Promise<Result<Passkey, 'not_found'>> {
      const [row] = await read(sql`WHERE p.id = ${id}`);
      return row === undefined ? noPasskey(id) : { value: parsePasskey(row) };
    },
    /** What verifies the passkeys of an operator. */
    credentials: (operatorId: number) =>
      engine.select(PASSKEYS, sql`WHERE operator_id = ${operatorId} ORDER BY id`),
    /** What verifies the passkey that the browser names by this text. */
    async findCredential(credential: string): Promise<(Credential & { readonly id: number }) | undefined> {
      const [row] = await engine.select(PASSKEYS, sql`WHERE credential = ${credential}`);
      return row;
    },
    /** A new challenge that an operator may answer with a new passkey; without `operatorId`, one that signs in. */
    async makeChallenge(operatorId?: number): Promise<Buffer> {
      const challenge = randomBytes(CHALLENGE_BYTES);
      await engine.write(addChallenge, challenge.toString('base64url'), operatorId);
      return challenge;
    },
    /**
     * Adds a passkey whose answer to `challenge` was verified. `conflict`: it was added already, or there are 20.
     * `unauthorized`: the operator was removed meanwhile.
     */
    async create(
      actor: Actor,
      operatorId: number,
      name: string,
      credential: Credential,
      challenge: string,
    ): Promise<Result<Passkey, 'unauthorized' | 'invalid_request' | 'conflict'>> {
      return (
        findNameIssue('passkey', name) ??
        engine.write(createPasskey, actor, operatorId, name, credential, challenge)
      );
    },
    async rename(
      actor: Actor,
      id: number,
      name: string,
    ): Promise<Result<Passkey, 'not_found' | 'invalid_request'>> {
      return findNameIssue('passkey', name) ?? engine.write(renamePasskey, actor, id, name);
    },
    /** Also ends the sessions that began with the passkey, at once on every instance. */
    remove: (actor: Actor, id: number) => engine.write(removePasskey, actor, id),
    /**
     * Begins a session after the signature was verified. `address` is the client's. The session with the text `earlier`
     * ends. `unauthorized`: the challenge was used or has ended, or the passkey was used or removed meanwhile.
     */
    async signIn(
      assertion: Assertion,
      address: string | undefined,
      earlier?: string,
    ): Promise<Result<Session, 'unauthorized'>> {
      const { session, stored } = newSession(address, earlier);
      const signedIn = await engine.write(signIn, assertion, stored);
      return mapResult(signedIn, (operator) => ({ operator, session }));
    },
    /** Deletes challenges that have ended. */
    prune: () => engine.write(prune),
  };
}
