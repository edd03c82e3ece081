// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { ENGINE_PARTS } from '../../src/app/store.ts';
import { databaseFiles } from '../../src/storage/sqlite/database-files.ts';
import { takeWritingThread, Writer } from '../../src/storage/sqlite/writer.ts';
import type { WriteCall } from '../../src/storage/sqlite/writing-thread.ts';
import { list, requireValue, REX } from './fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';
import { transactionsInLog } from './wal.ts';
import { CLIENT } from '../support/store.ts';

const UNAVAILABLE = { name: 'ServiceError', code: 'unavailable' };
const SLOW = { ...REX, name: 'slow' };

/** A store in which to add the animal SLOW takes long: for a disk that hangs, there is no other stand-in. */
async function slowFixture(t: TestContext) {
  const fixture = await sqliteFixture(t);
  await fixture.store.pets.create(CLIENT, REX);
  fixture.raw().exec(`CREATE TRIGGER slow BEFORE INSERT ON pets WHEN new.name = 'slow' BEGIN
    SELECT max(i) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i FROM n);
  END`);
  return fixture;
}

/** Enough turns of the event loop for what was asked for to have gone to the thread. */
async function sent(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await setImmediate();
}

test('lists are answered during a long commit', async (t) => {
  const { store, clock } = await slowFixture(t);
  const order: string[] = [];
  const creation = store.pets.create(CLIENT, SLOW).then(() => order.push('created'));
  await sent();
  for (let time = 0; time < 10; time++) {
    assert.equal((await list(store.pets, { limit: 20 })).length, 1);
    await store.ping();
    clock.advance(1_000);
    order.push('listed');
  }
  await creation;
  assert.deepEqual(order, [...Array.from({ length: 10 }, () => 'listed'), 'created']);
  assert.equal((await list(store.pets, { limit: 20 })).length, 2);
});

test('creates that arrive during a long commit share the next one', async (t) => {
  const { store, file } = await slowFixture(t);
  const before = transactionsInLog(file);
  const creations = [store.pets.create(CLIENT, SLOW)];
  await sent();
  for (let time = 0; time < 20; time++) {
    creations.push(store.pets.create(CLIENT, REX));
    await setImmediate();
  }
  const ids = (await Promise.all(creations)).map((creation) => requireValue(creation).id);
  assert.deepEqual(
    ids,
    Array.from({ length: 21 }, (_, index) => BigInt(index + 2)),
  );
  assert.equal(transactionsInLog(file), before + 2);
});

test('a create that waited 5 s for a slow commit is refused and not done', async (t) => {
  const { store, clock } = await slowFixture(t);
  const order: string[] = [];
  const creation = store.pets.create(CLIENT, SLOW).then(() => order.push('created'));
  await sent();
  const late = store.pets.create(CLIENT, REX);
  clock.advance(5_000);
  await assert.rejects(late, UNAVAILABLE);
  order.push('refused');
  await creation;
  assert.deepEqual(order, ['refused', 'created']);
  assert.equal((await list(store.pets, { limit: 20 })).length, 2);
});

test('close waits for earlier writes and refuses later ones', async (t) => {
  const { store, reopen } = await slowFixture(t);
  const creations = [store.pets.create(CLIENT, SLOW)];
  await sent();
  creations.push(store.pets.create(CLIENT, REX));
  const reopened = reopen();
  await assert.rejects(store.pets.create(CLIENT, REX), /closed/);
  assert.deepEqual(
    (await Promise.all(creations)).map((creation) => requireValue(creation).id),
    [2n, 3n],
  );
  assert.equal((await list((await reopened).pets, { limit: 20 })).length, 3);
});

test('a fault has the message, code and stack of the thread', async (t) => {
  const { store, raw } = await sqliteFixture(t);
  raw().exec('ALTER TABLE pets RENAME TO cats');
  await assert.rejects(store.pets.create(CLIENT, REX), {
    name: 'Error',
    code: 'ERR_SQLITE_ERROR',
    errcode: 1,
    message: /no such table: main\.pets|no such table: pets/,
    stack: /writing-thread/,
  });
});

test('the first write does not create a deleted file again', async (t) => {
  const { store, file } = await sqliteFixture(t);
  rmSync(file);
  await assert.rejects(store.pets.create(CLIENT, REX), UNAVAILABLE);
  assert.equal(existsSync(file), false);
});

/** The id of an animal that the writer has added. */
async function createPet(writer: Writer, name: string): Promise<bigint> {
  const call: WriteCall = ['pets.add', [{ name, categoryId: 1n, ownerId: 0 }]];
  return (await writer.run({ call, hasBatch: true })) as bigint;
}

/** A writer beside the store, whose threads the test can end. */
async function writerFixture(t: TestContext) {
  const fixture = await slowFixture(t);
  const threads: Worker[] = [];
  const lost: string[] = [];
  const start = () => {
    const thread = takeWritingThread(ENGINE_PARTS.writingThread, {
      files: databaseFiles(fixture.file),
      isSilent: false,
    });
    threads.push(thread);
    return thread;
  };
  const writer = new Writer(fixture.clock, start, ({ message }) => lost.push(message));
  t.after(() => writer.close());
  return { ...fixture, writer, threads, lost };
}

test('the first write starts the thread, once', async (t) => {
  const { writer, threads, store } = await writerFixture(t);
  assert.equal(threads.length, 0);
  for (let time = 0; time < 3; time++) await createPet(writer, 'Rex');
  assert.equal(threads.length, 1);
  assert.equal((await list(store.pets, { limit: 20 })).length, 4);
});

test('when the thread ends, its writes fail and a new thread does the waiting ones', async (t) => {
  const { writer, threads, lost, store } = await writerFixture(t);
  const writes = [createPet(writer, 'Rex'), createPet(writer, 'slow')];
  await sent();
  const waiting = createPet(writer, 'Rex');
  await threads[0]?.terminate();
  for (const result of await Promise.allSettled(writes)) {
    assert.equal(result.status, 'rejected');
    assert.match((result.reason as Error).message, /writing thread ended/);
  }
  assert.equal(lost.length, 1);
  assert.equal(await waiting, 2n);
  assert.equal(threads.length, 2);
  assert.equal((await list(store.pets, { limit: 20 })).length, 2);
});

test('writes that are being gathered when the thread ends are done', async (t) => {
  const { writer, threads, lost } = await writerFixture(t);
  await createPet(writer, 'Rex');
  const gathered = createPet(writer, 'Rex');
  // Its real end comes in a turn that a test cannot choose.
  threads[0]?.emit('exit', 1);
  // While the other thread has the first one.
  await sent();
  const later = createPet(writer, 'Rex');
  assert.deepEqual(await Promise.all([gathered, later]), [3n, 4n]);
  assert.deepEqual([lost.length, threads.length], [1, 2]);
  await threads[0]?.terminate();
});

test('when no thread can start, waiting writes fail and the next one tries again', async (t) => {
  const { clock, file } = await sqliteFixture(t);
  let left = 1;
  const lost: string[] = [];
  const start = () => {
    if (left-- > 0) throw new Error('no room');
    return takeWritingThread(ENGINE_PARTS.writingThread, { files: databaseFiles(file), isSilent: false });
  };
  const writer = new Writer(clock, start, ({ message }) => lost.push(message));
  t.after(() => writer.close());
  await assert.rejects(createPet(writer, 'Rex'), /no room/);
  assert.deepEqual(lost, ['no room']);
  assert.equal(await createPet(writer, 'Rex'), 1n);
});

test('the loss of an idle thread is reported, and its end by close is not', async (t) => {
  const { writer, threads, lost } = await writerFixture(t);
  await createPet(writer, 'Rex');
  await threads[0]?.terminate();
  await setImmediate();
  assert.equal(lost.length, 1);
  assert.equal(await createPet(writer, 'Rex'), 3n);
  await writer.close();
  assert.equal(lost.length, 1);
});
