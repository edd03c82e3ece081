// Contract: sections 2 and 3. Whatever call of storage fails, nothing is lost, half done or done twice.
import assert from 'node:assert/strict';
import { cpSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { integer, sample } from 'fast-check';
import { SCOPES } from '../../src/domain/scope.ts';
import { type Answer, type Asked, call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { issueKey } from '../support/instances.ts';
import { assertInvariants, readRows } from '../support/invariants.ts';
import { beginLifetime, type Lifetime } from '../support/lifetime.ts';
import { newDatabase } from '../support/new-database.ts';
import { makeOldSqlite } from '../support/old-schema.ts';
import {
  type Outcome,
  run,
  runJson,
  start,
  startServiceProcess,
  type Variables,
} from '../support/process.ts';
import { isTorture } from '../support/rounds.ts';
import { startTestService } from '../support/service.ts';
import {
  type FailingStorage,
  failingStorage,
  FAULT_KINDS,
  type StorageFault,
} from '../support/storage-faults.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

/** SEED chooses the same calls again. */
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** How many calls fail besides the last one when not all of them do. */
const SAMPLE = 1;

/** Operations so far, because each has another kind of fault. */
let operations = 0;

/** Milliseconds until an endpoint must have an event: longer than a lease. */
const PATIENCE = 120_000;

/** What one run has: the files as they were before, and a fault for one process. */
interface Scene {
  readonly lifetime: Lifetime;
  readonly folder: string;
  readonly file: string;
  readonly storage: FailingStorage;
  readonly fault: StorageFault;
}

type Play = (scene: Scene) => Promise<void>;

type Kind = StorageFault['kind'];

/** A test for each kind of fault or, when not all calls fail, for one kind. */
function testFaults(title: string, body: (t: TestContext, kind: Kind) => Promise<void>): void {
  const chosen = FAULT_KINDS.filter((_, index) => index === (SEED + operations) % FAULT_KINDS.length);
  operations++;
  for (const kind of isTorture ? FAULT_KINDS : chosen)
    test(`${title} whichever call of storage fails: ${kind}`, (t) => body(t, kind));
}

/** Plays an operation on copies of a folder. Each time another call fails, until none does. */
async function failEachCall(t: TestContext, kind: Kind, template: string, play: Play): Promise<void> {
  const playOnce = async (number: number) => {
    const fault = { kind, call: number };
    const { lifetime, end } = beginLifetime();
    try {
      const folder = temporaryFolder(lifetime);
      cpSync(template, folder, { recursive: true });
      const file = join(folder, 'petstore.db');
      const storage = failingStorage(lifetime, fault);
      await play({ lifetime, folder, file, storage, fault });
      return { hasFailed: storage.hasFailed(), count: storage.count() };
    } catch (error) {
      throw new Error(`${fault.kind} at call ${fault.call}, SEED=${SEED}`, { cause: error });
    } finally {
      await end();
    }
  };
  let count = 0;
  if (isTorture) while ((await playOnce(count + 1)).hasFailed) count++;
  else {
    ({ count } = await playOnce(Number.MAX_SAFE_INTEGER));
    const draws = sample(integer({ min: 1, max: count }), { seed: SEED, numRuns: SAMPLE });
    // The last one comes behind the commit.
    for (const number of [count, ...draws]) await playOnce(number);
  }
  t.diagnostic(`SEED=${SEED}, ${count} calls`);
}

/** Runs a command whose storage fails. It says in one line what was wrong, unless it was killed. */
async function runFailing({ storage, file }: Scene, args: readonly string[]): Promise<Outcome> {
  storage.begin();
  const outcome = await start(args, { ...toVariables(file), ...storage.variables }).ended;
  storage.end();
  if (outcome.code !== null) assert.doesNotMatch(outcome.stderr, /^\s+at /m);
  if (!storage.hasFailed()) assert.equal(outcome.code, 0, outcome.stderr);
  return outcome;
}

function toVariables(file: string): Variables {
  return { DATABASE_URL: `sqlite:${file}`, PORT: '0' };
}

/** Starts a service on a database again, and uses it. Each of `keys` works. */
async function assertServes(lifetime: Lifetime, file: string, keys: readonly string[] = []): Promise<void> {
  const service = await startTestService(lifetime, {
    databaseUrl: `sqlite:${file}`,
    clock: fakeClock(Date.now()),
    env: { WEBHOOKS: 'off' },
  });
  for (const key of keys) assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
  const key = await service.issueKey({ account: 'restart' });
  const body = '{"name":"restart","categoryId":1}';
  assert.equal((await call(service.url, '/v1/pets', { key, body })).status, 201);
  await service.stop();
  assertInvariants(file);
}

const namesIn = (file: string) =>
  readRows<{ name: string }>(file, 'SELECT name FROM pets ORDER BY id').map(({ name }) => name);

/** A folder with a database that has a key. */
async function withKey(t: TestContext) {
  const folder = temporaryFolder(t);
  const variables = toVariables(join(folder, 'petstore.db'));
  newDatabase(join(folder, 'petstore.db'));
  const { key } = await issueKey(variables, { scopes: SCOPES });
  return { folder, key, variables };
}

testFaults('a create, a PATCH, an order and its completion are done once', async (t, kind) => {
  const { folder: template, key } = await withKey(t);
  await failEachCall(t, kind, template, async ({ lifetime, file, storage }) => {
    const env = { ...toVariables(file), WEBHOOKS: 'off' };
    let service = await startServiceProcess(lifetime, { ...env, ...storage.variables });
    let last: Answer | undefined;
    const send = async (path: string, asked: Asked, status: number) => {
      const request = () => call(service.url, `/v1${path}`, { key, ...asked });
      last = await request().catch(() => undefined);
      if (last?.status !== status) {
        // A client repeats what was not answered, and has room again.
        assert.equal(last?.status ?? 503, 503, last?.text ?? '');
        storage.end();
        if (last === undefined) {
          await service.ended;
          service = await startServiceProcess(lifetime, env);
        }
        last = await request();
      }
      assert.equal(last.status, status, last.text);
      return last.json.id as number;
    };
    storage.begin();
    const create = { headers: { 'idempotency-key': 'create' }, body: '{"name":"Rex","categoryId":1}' };
    const pet = await send('/pets', create, 201);
    await send(`/pets/${pet}`, { method: 'PATCH', body: '{"name":"Max","status":"available"}' }, 200);
    const headers = { 'idempotency-key': 'order' };
    const order = await send('/store/orders', { headers, body: `{"petId":${pet}}` }, 201);
    await send(`/store/orders/${order}/complete`, { method: 'POST' }, 200);
    storage.end();
    service.child.kill('SIGKILL');
    await service.ended;
    service = await startServiceProcess(lifetime, env);
    assert.equal(await send('/pets', create, 201), pet);
    service.child.kill('SIGKILL');
    await service.ended;
    assert.deepEqual(readRows(file, 'SELECT id, name, status, version FROM pets'), [
      { id: pet, name: 'Max', status: 'sold', version: 4 },
    ]);
    assert.deepEqual(readRows(file, 'SELECT id, status FROM orders'), [{ id: order, status: 'complete' }]);
    assertInvariants(file);
  });
});

for (const [title, isAtomic, rows] of [
  ['an import adds the beginning of its file, and says how far it came,', false, 2_050],
  ['an atomic import adds all or nothing', true, 20],
] as const) {
  testFaults(title, async (t, kind) => {
    const template = temporaryFolder(t);
    newDatabase(join(template, 'petstore.db'));
    const names = Array.from({ length: rows }, (_, number) => `animal ${number}`);
    const lines = names.map((name, number) => `${name},${number < rows / 2 ? 'Cats' : 'Dogs'}`);
    writeFileSync(join(template, 'animals.csv'), ['name,kind', ...lines].join('\n'));
    await failEachCall(t, kind, template, async (scene) => {
      const { folder, file, lifetime } = scene;
      const args = ['import', join(folder, 'animals.csv'), '--map', 'categoryId=kind', '--json'];
      const { code, stdout } = await runFailing(scene, isAtomic ? [...args, '--atomic'] : args);
      assertInvariants(file);
      const imported = namesIn(file);
      assert.deepEqual(imported, names.slice(0, imported.length));
      const categories = readRows(file, 'SELECT id FROM categories').length;
      if (code === 0) assert.deepEqual([imported.length, categories], [rows, 2]);
      if (isAtomic) {
        assert.ok([0, rows].includes(imported.length));
        assert.equal(categories, imported.length === 0 ? 0 : 2);
        if (code === 1) assert.equal(imported.length, 0);
      }
      if (code !== null && stdout !== '') assert.equal(JSON.parse(stdout).imported, imported.length);
      const lost = `SELECT id FROM pets WHERE category_id NOT IN (SELECT id FROM categories)`;
      assert.deepEqual(readRows(file, lost), []);
      await assertServes(lifetime, file);
    });
  });
}

testFaults('keys rotate leaves the old key alone or shows the new one', async (t, kind) => {
  const { folder: template, key } = await withKey(t);
  await failEachCall(t, kind, template, async (scene) => {
    const { file, lifetime } = scene;
    const { code, stdout } = await runFailing(scene, ['keys', 'rotate', '1', '--json']);
    assertInvariants(file);
    const rotated = readRows(file, 'SELECT id FROM keys WHERE rotated_to IS NOT NULL').length;
    assert.equal(readRows(file, 'SELECT id FROM keys').length, 1 + rotated);
    const audited = `SELECT id FROM audit WHERE action = 'keys rotate'`;
    assert.equal(readRows(file, audited).length, rotated);
    if (code !== null) assert.equal(rotated, code === 0 ? 1 : 0);
    await assertServes(lifetime, file, code === 0 ? [key, JSON.parse(stdout).key as string] : [key]);
  });
});

testFaults('migrate loses nothing and can be repeated', async (t, kind) => {
  const template = temporaryFolder(t);
  const animals = `
    INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'sold'), ('Max', 2, NULL), ('Gone', 1, NULL);
    DELETE FROM pets WHERE id = 3;
    INSERT INTO accounts (name, folded_name, plan, created_at) VALUES ('shop', 'shop', 'free', 1);
    INSERT INTO idempotency (account_id, key, fingerprint, status, location, body, created_at)
      VALUES (1, 'a', 'f', 201, '/pets/2', '{"id":2}', ${Date.now()})`;
  makeOldSqlite(join(template, 'petstore.db'), 10, animals);
  const newest = join(temporaryFolder(t), 'newest.db');
  cpSync(join(template, 'petstore.db'), newest);
  await run(['migrate'], toVariables(newest));
  const PETS = 'SELECT id, name, category_id, status, version FROM pets ORDER BY id';
  const everything = (file: string) =>
    [PETS, 'SELECT * FROM idempotency', 'SELECT * FROM accounts', 'PRAGMA user_version'].map((statement) =>
      readRows(file, statement),
    );
  await failEachCall(t, kind, template, async (scene) => {
    const { file, lifetime } = scene;
    const { code } = await runFailing(scene, ['migrate']);
    assert.deepEqual(readRows(file, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    if (code !== 0) assert.equal((await run(['migrate'], toVariables(file))).code, 0);
    assert.deepEqual(everything(file), everything(newest));
    await assertServes(lifetime, file);
    // No id of before is used again.
    assert.deepEqual(readRows(file, `SELECT id FROM pets WHERE name = 'restart'`), [{ id: 4 }]);
  });
});

/** A folder with a database of 7 animals, and a backup of it when it had 5. */
async function withBackup(t: TestContext) {
  const { folder, key, variables } = await withKey(t);
  const [file, backup] = [join(folder, 'petstore.db'), join(folder, 'backup')];
  const add = async (count: number) => {
    const lines = Array.from({ length: count }, (_, number) => `animal ${number},1`);
    await runJson(['import', '-'], variables, ['name,categoryId', ...lines].join('\n'));
  };
  await add(5);
  await runJson(['backup', backup], variables);
  const before = namesIn(file);
  await add(2);
  return { folder, key, before, after: namesIn(file) };
}

testFaults('copy leaves an empty target or a whole one', async (t, kind) => {
  const { folder: template, key, after } = await withBackup(t);
  newDatabase(join(template, 'target.db'));
  await failEachCall(t, kind, template, async (scene) => {
    const { file, folder, lifetime } = scene;
    const target = join(folder, 'target.db');
    const args = ['copy', '--from', `sqlite:${file}`, '--to', `sqlite:${target}`];
    const { code } = await runFailing(scene, args);
    assert.deepEqual(readRows(target, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    // Empty or whole: only an empty one is accepted again.
    const isWhole = namesIn(target).length > 0;
    if (code !== null) assert.equal(isWhole, code === 0);
    const again = await run(args, toVariables(file));
    assert.equal(again.code, isWhole ? 1 : 0, again.stderr);
    for (const each of [file, target]) {
      assert.deepEqual(namesIn(each), after);
      await assertServes(lifetime, each, [key]);
    }
  });
});

testFaults('backup leaves no half copy', async (t, kind) => {
  const { folder: template, key, after } = await withBackup(t);
  await failEachCall(t, kind, template, async (scene) => {
    const { file, folder, lifetime } = scene;
    const backup = join(folder, 'new-backup');
    const { code } = await runFailing(scene, ['backup', backup]);
    // A name that is there is that of a whole backup.
    if (code === 0) assert.ok(existsSync(backup));
    else if (!existsSync(backup)) assert.equal((await run(['backup', backup], toVariables(file))).code, 0);
    assert.equal(existsSync(`${backup}.unfinished`), false);
    for (const each of [backup, file]) {
      assert.deepEqual(namesIn(each), after);
      await assertServes(lifetime, each, [key]);
    }
  });
});

testFaults('restore leaves the old database or the whole backup', async (t, kind) => {
  const { folder: template, key, before, after } = await withBackup(t);
  await failEachCall(t, kind, template, async (scene) => {
    const { file, folder, lifetime } = scene;
    const restore = ['restore', join(folder, 'backup')];
    const { code, stderr } = await runFailing(scene, restore);
    const names = namesIn(file);
    const isReplaced = code === null ? names.length === before.length : /^$|now holds/.test(stderr);
    assert.deepEqual(names, isReplaced ? before : after);
    // After a kill, the old one may have two names, and no service opens it.
    if (statSync(file).nlink === 1) await assertServes(lifetime, file, [key]);
    else assert.equal(code, null);
    assert.equal((await run(restore, toVariables(file))).code, 0);
    assert.deepEqual(namesIn(file), before);
    await assertServes(lifetime, file, [key]);
  });
});

testFaults('a webhook gets its events', async (t, kind) => {
  const { folder: template, key } = await withKey(t);
  const endpoint = await startEndpoint(t);
  const WEBHOOKS_ALLOW_PRIVATE = 'true';
  const body = JSON.stringify({ url: endpoint.url, types: ['pet.created'] });
  await failEachCall(t, kind, template, async ({ lifetime, file, storage, fault }) => {
    const env = { ...toVariables(file), WEBHOOKS_ALLOW_PRIVATE };
    // Not in the template, because a copied database disables its webhooks.
    const preparation = await startTestService(lifetime, {
      databaseUrl: `sqlite:${file}`,
      clock: fakeClock(Date.now()),
      env: { WEBHOOKS_ALLOW_PRIVATE },
    });
    const registered = await call(preparation.url, '/v1/webhooks', { key, body });
    assert.equal(registered.status, 201, registered.text);
    await preparation.stop();

    const name = `${fault.kind} ${fault.call} ${performance.now()}`;
    let service = await startServiceProcess(lifetime, { ...env, ...storage.variables });
    const create = () =>
      call(service.url, '/v1/pets', {
        key,
        headers: { 'idempotency-key': 'create' },
        body: JSON.stringify({ name, categoryId: 1 }),
      }).catch(() => undefined);
    const hasEvent = () => endpoint.received.some((message) => message.body.includes(name));
    const isNoted = () => readRows(file, `SELECT id FROM deliveries WHERE status = 'succeeded'`).length > 0;
    storage.begin();
    const created = await create();
    if (created?.status === 201) await until(() => isNoted() || storage.hasFailed());
    storage.end();
    if (storage.hasFailed() && fault.kind === 'kill') {
      await service.ended;
      const db = new DatabaseSync(file);
      // Instead of 20 s, after which the lease of the dead one is over.
      db.exec('UPDATE webhooks SET leased_until = 0');
      db.close();
      service = await startServiceProcess(lifetime, env);
    }
    if (created?.status !== 201) assert.equal((await create())?.status, 201);
    await until(() => hasEvent() && isNoted());
    service.child.kill('SIGKILL');
    await service.ended;
    assertInvariants(file);
  });
});

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!isSo()) {
    assert.ok(performance.now() < end, 'What was waited for did not come.');
    await wait(20);
  }
}
