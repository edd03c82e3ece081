// Contract: section 13.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { ENGINE_PARTS } from '../../src/app/store.ts';
import { systemClock } from '../../src/cli/context.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { type Scope, SCOPES } from '../../src/domain/scope.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { WRITES as PET_WRITES } from '../../src/resources/pets/repository.ts';
import { openEngine } from '../../src/storage/open.ts';
import { patch } from '../storage/fixture.ts';
import { onPostgres, storeOf } from '../support/databases.ts';
import { type Change, findFaults, type ReadEvent, type Write } from '../support/event-checker.ts';
import { copyAndFollow, findEnd, follow, listAll, openReader } from '../support/event-followers.ts';
import { changeSettings, findWrites, inventSettingPlans } from '../support/event-writers.ts';
import { type KilledInstances, startKilledInstances } from '../support/killed-instances.ts';
import {
  type DirectDatabase,
  findLastNote,
  noteChanges,
  openDirectly,
  readChanges,
} from '../support/noted-changes.ts';
import { inventPlans, MAX_OPEN_ORDERS, perform } from '../support/order-histories.ts';
import { now, Recorder } from '../support/order-recorder.ts';
import { PATIENT_POOL } from '../support/postgres.ts';
import { temporaryEnvironment, type Variables } from '../support/process.ts';
import { temporaryRedis } from '../support/redis.ts';
import { rounds } from '../support/rounds.ts';
import { PLENTY } from '../support/service.ts';
import { until } from '../support/until.ts';
import { CLIENT, findOrCreateAccount, issueKey } from '../support/store.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';
import type { Lifetime } from '../support/lifetime.ts';

/** Histories at the same time, which the same followers read: a round. */
const WIDTH = 8;

interface Scene extends Pick<KilledInstances, 'connect'>, Pick<Lifetime, 'signal'> {
  readonly store: Store;
  readonly database: DirectDatabase;
  /** Called with how many operations of this round have ended, and an animal that was just added, if there is one. */
  readonly onOperation: (count: number, petId: number | undefined) => Promise<readonly Write[]>;
  /** Whether any transaction may still commit. */
  readonly isBusy: () => Promise<boolean>;
}

/** Who reads: an account, scopes, the parameters of its feed, the kinds of things that it sees, and how many answers it loses. */
const FOLLOWERS = [
  { account: 'one', scopes: SCOPES, query: 'wait=20', kinds: ['pet', 'category', 'order', 'key'] },
  {
    account: 'one',
    scopes: SCOPES,
    query: 'wait=5&limit=7',
    kinds: ['pet', 'category', 'order', 'key'],
    lost: 3,
  },
  { account: 'one', scopes: SCOPES, query: 'wait=3&type=pet.*&type=category.*', kinds: ['pet', 'category'] },
  {
    account: 'one',
    scopes: ['events:read', 'store:read', 'keys:manage'],
    query: 'wait=30&type=*',
    kinds: ['order', 'key'],
  },
  {
    account: 'other',
    scopes: ['events:read', 'pets:read', 'store:read'],
    query: 'limit=20',
    kinds: ['pet', 'category', 'order'],
  },
] as const satisfies readonly {
  readonly scopes: readonly Scope[];
  readonly lost?: number;
  readonly [property: string]: unknown;
}[];

/** Operations of a round after which a copy is begun. */
const COPIES = [20, 150];

/** Performs plans at once while followers read and copies are made, and judges what they got. Resolves with the changes. */
async function judge(
  { store, database, connect, signal, onOperation, isBusy }: Scene,
  plans: ReturnType<typeof inventPlans>,
  settings: ReturnType<typeof inventSettingPlans>[number],
): Promise<{ readonly changes: readonly Change[]; readonly writes: readonly Write[] }> {
  const openKey = async (account: string, scopes: readonly Scope[]) => {
    const { id: accountId } = await findOrCreateAccount(store.accounts, account, 'enterprise', PLENTY);
    const { key } = await issueKey(store.keys, { accountId, scopes });
    return { accountId, send: connect(key.reveal()) };
  };
  // Accounts of this round: keys of an account create a hundred keys a day.
  const round = crypto.randomUUID();
  const one = await openKey(`one ${round}`, SCOPES);
  const other = await openKey(`other ${round}`, SCOPES);
  /** The name of the last animal and the label of the last key. */
  const last = crypto.randomUUID();
  const isLastPet = ({ data }: ReadEvent) => data['name'] === last;
  const isLastKey = ({ data }: ReadEvent) => data['label'] === last;
  const followers = await Promise.all(
    FOLLOWERS.map(async ({ account, scopes, query, kinds, ...options }, first) => {
      const { accountId, send } = await openKey(`${account} ${round}`, scopes);
      const reader = openReader(send, { first, signal, ...options });
      const sees = (change: Change) =>
        kinds.some((kind) => change.type.startsWith(`${kind}.`)) && [0, accountId].includes(change.accountId);
      const isLast = kinds.some((kind) => kind === 'pet') ? isLastPet : isLastKey;
      const events: ReadEvent[] = [];
      return { name: `follower ${first}`, reader, query, sees, isLast, events };
    }),
  );
  const isQuiet = async () => {
    const [row] = await database.run('SELECT count(*) AS queued FROM event_queue');
    return Number(row?.['queued']) === 0 && !(await isBusy());
  };
  await until(isQuiet);
  const before = await findLastNote(database);
  const begins = await Promise.all(followers.map(({ reader, query }) => findEnd(reader, query)));
  const following = followers.map(({ reader, events, isLast }, index) =>
    follow(reader, begins[index] ?? '', { take: (event) => events.push(event), isLast }),
  );

  const copying: ReturnType<typeof copyAndFollow>[] = [];
  const slow: Promise<readonly Write[]>[] = [];
  let operations = 0;
  const recorders = plans.map((_, index) => {
    const { send } = index % 2 === 0 ? one : other;
    const recorder: Recorder = new Recorder({
      send,
      async expireAt(id, instant) {
        // It waits for the animal, as every write does. So it never comes between two statements of another write.
        const pet = `(SELECT pet_id FROM orders WHERE id = ${id})`;
        if (database.kind === 'postgres')
          await database.run(`WITH pet AS MATERIALIZED (SELECT id FROM pets WHERE id = ${pet} FOR UPDATE)
            UPDATE orders SET expires_at = ${instant} FROM pet WHERE orders.id = ${id} AND status = 'pending'`);
        else
          await database.run(
            `UPDATE orders SET expires_at = ${instant} WHERE id = ${id} AND status = 'pending'`,
          );
      },
      onEnd() {
        operations++;
        if (COPIES.includes(operations))
          copying.push(copyAndFollow(openReader(one.send, { first: operations, signal }), isLastPet));
        const created = recorder.history.findLast(({ kind }) => kind === 'create');
        const petId = created?.kind === 'create' ? created.answer?.id : undefined;
        slow.push(onOperation(operations, petId));
      },
    });
    return recorder;
  });
  const [writes] = await Promise.all([
    changeSettings(settings, one.send),
    ...recorders.map((recorder, index) => perform(plans[index] ?? [], recorder, 2 * index)),
  ]);
  const slowWrites = (await Promise.all(slow)).flat();
  await until(async () => {
    // Also those that `expireAt` made due soon: that has no event, and their expiry has.
    const soon = Date.now() + MINUTE;
    const due = `SELECT count(*) AS due FROM orders WHERE status = 'pending' AND expires_at <= ${soon}`;
    const [row] = await database.run(due);
    return Number(row?.['due']) === 0 && isQuiet();
  });
  await issueKey(store.keys, { accountId: one.accountId, scopes: ['pets:read'], label: last });
  await store.pets.create(CLIENT, { name: last, categoryId: 0n });
  await Promise.all(following);

  const changes = await readChanges(database, before);
  const all = [...recorders.flatMap(({ history }) => findWrites(history)), ...writes, ...slowWrites];
  assert.deepEqual(findFaults({ changes, writes: all, followers }), []);
  const catalogue = await listAll(openReader(one.send, { first: 0, signal }));
  assert.equal(copying.length, COPIES.length);
  for (const copy of await Promise.all(copying)) assert.deepEqual(copy, catalogue);
  return { changes, writes: all };
}

/** Every type that the histories must contain, or they try too little. */
const TYPES = [
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'category.created',
  'category.updated',
  'category.deleted',
  'order.created',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'key.created',
  'key.rotated',
  'key.revoked',
];

/** Judges the histories of all rounds. Resolves with all writes. */
async function judgeAll(scene: Scene): Promise<readonly Write[]> {
  const plans = inventPlans(ROUNDS * WIDTH);
  const settings = inventSettingPlans(ROUNDS);
  const types = new Set<string>();
  const all: Write[] = [];
  for (const [index, plan] of settings.entries()) {
    const { changes, writes } = await judge(scene, plans.slice(index * WIDTH, (index + 1) * WIDTH), plan);
    for (const { type } of changes) types.add(type);
    all.push(...writes);
  }
  assert.deepEqual(
    TYPES.filter((type) => !types.has(type)),
    [],
  );
  return all;
}

/** 200 histories, or 24. */
const ROUNDS = rounds(25);

/** The longest time that a transaction is held open, in milliseconds: less than the timeout of statements. */
const LONGEST_HOLD = 1_000;

class Undone extends Error {}

test('histories over three instances with kills, lost connections and slow transactions are followed exactly', async (t) => {
  const { url: REDIS_URL } = await temporaryRedis(t);
  const variables: Variables = { ...(await onPostgres(t)), REDIS_URL, MAX_OPEN_ORDERS };
  const { DATABASE_URL = '' } = variables;
  const database = openDirectly(t, DATABASE_URL);
  await noteChanges(database);
  const store = await storeOf(t, variables);
  const engine = await openEngine({
    ...ENGINE_PARTS,
    databaseUrl: DATABASE_URL,
    pool: { connections: 3, ...PATIENT_POOL },
    clock: systemClock(),
    onLost: () => undefined,
  });
  t.after(() => engine.close());
  const proxy = await startTcpProxy(t, DATABASE_URL);
  const { connect, kill } = await startKilledInstances(t, 3, {
    ...variables,
    DATABASE_URL: proxy.url,
  });

  let last = 0;
  let kills = 0;
  let slow = 0;
  let holds = 0;
  /** Instances that start. */
  let starting = 0;
  /** Changes an animal in a transaction that stays open while others write. Every second one is undone. */
  const changeSlowly = async (petId: number): Promise<readonly Write[]> => {
    const isUndone = slow++ % 2 === 1;
    const name = crypto.randomUUID();
    const [began, first] = [now(), last];
    try {
      const updated = await engine.write(async (transaction) => {
        const result = await PET_WRITES.update(transaction, CLIENT, BigInt(petId), patch({ name }), {});
        const end = now() + LONGEST_HOLD;
        const isLongEnough = () => last >= first + 20 || now() >= end;
        while (!isLongEnough()) await wait(5);
        if (isUndone) throw new Undone();
        return result;
      });
      return 'value' in updated ? [{ event: `pet.updated ${name}`, began, ended: now() }] : [];
    } catch (error) {
      if (error instanceof Undone) return [];
      throw error;
    }
  };
  /** Holds up an instance that gives places to events, before it commits them, until the others have looked. */
  const holdPlacing = async () => {
    const held = proxy.holdAnswerTo('DELETE FROM event_queue');
    await held.given;
    holds++;
    await wait(1.5 * store.events.lookInterval);
    held.release();
  };
  const onOperation: Scene['onOperation'] = async (count, petId) => {
    last = count;
    if (count === 210) void holdPlacing();
    if (count === 80 || count === 160) {
      starting++;
      await kill(kills++).finally(() => starting--);
    } else if (count % 15 === 5 && count < 200 && starting === 0) {
      // The server has done the statement, but the service gets no answer. A start without one would end.
      proxy.cutAnswerTo(['COMMIT', 'event_queue', 'UPDATE'][count % 3] ?? '');
    }
    return count % 40 === 20 && petId !== undefined ? changeSlowly(petId) : [];
  };
  const isBusy = async () => {
    const [row] = await database.run(`SELECT count(*) AS open FROM pg_stat_activity
      WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`);
    return Number(row?.['open']) > 0;
  };
  const writes = await judgeAll({ store, database, connect, signal: t.signal, onOperation, isBusy });
  const unanswered = writes.filter(({ ended }) => ended === Number.POSITIVE_INFINITY);
  assert.ok(unanswered.length > ROUNDS, 'too few writes went unanswered');
  assert.ok(kills === 2 * ROUNDS && slow > ROUNDS && holds > 0, 'too little went wrong');
});

test('histories over one SQLite file with kills and slow transactions are followed exactly', async (t) => {
  const variables: Variables = { ...temporaryEnvironment(t), MAX_OPEN_ORDERS };
  const file = openDirectly(t, variables['DATABASE_URL'] ?? '');
  await noteChanges(file);
  const store = await storeOf(t, variables);
  const { connect, kill } = await startKilledInstances(t, 1, variables);
  /** Resolves when no transaction of this test is open. Another statement on its connection would be part of it. */
  let closed: Promise<unknown> = Promise.resolve();
  const rollBackSlowly = async (petId: number) => {
    await file.run('BEGIN IMMEDIATE');
    await file.run(`UPDATE pets SET name = 'undone', version = version + 1 WHERE id = ${petId}`);
    await file.run(`INSERT INTO events (account_id, environment, type, at, version, data)
      VALUES (0, '', 'pet.updated', 0, 2, '{"id":${petId}}')`);
    await wait(50);
    await file.run('ROLLBACK');
  };
  const database: DirectDatabase = {
    kind: 'sqlite',
    async run(statement) {
      await closed;
      return file.run(statement);
    },
  };
  const onOperation: Scene['onOperation'] = async (count, petId) => {
    if (count === 100) await kill(0);
    if (count % 40 === 20 && petId !== undefined) await (closed = closed.then(() => rollBackSlowly(petId)));
    return [];
  };
  await judgeAll({ store, database, connect, signal: t.signal, onOperation, isBusy: async () => false });
});
