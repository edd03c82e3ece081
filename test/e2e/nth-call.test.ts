// Contract: sections 2 and 3. Whatever call of storage fails, nothing is lost, half done or done twice.
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { integer, sample } from 'fast-check';
import { SCOPES } from '../../src/domain/scope.ts';
import { type Answer, type Asked, call } from '../support/api.ts';
import type { DatabaseName } from '../support/both-apis.ts';
import { fakeClock } from '../support/clock.ts';
import {
  prepareDatabase,
  sqliteDatabase,
  type Template,
  type TestDatabase,
} from '../support/database-copies.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { issueKey } from '../support/instances.ts';
import { beginLifetime, type Lifetime } from '../support/lifetime.ts';
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
import { test } from '../support/test.ts';
import { until } from '../support/until.ts';

/** SEED chooses the same calls again. */
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** How many calls fail besides the last one when not all of them do. */
const SAMPLE = 1;

/** How many statements to PostgreSQL fail when all calls do: a copy has hundreds, most of them alike. */
const MOST_STATEMENTS = 50;

/** Operations so far, because each has another kind of fault. */
let operations = 0;

/** What one run has: the database and the files as they were before, and a fault for one process. */
interface Scene {
  readonly lifetime: Lifetime;
  readonly folder: string;
  readonly database: TestDatabase;
  readonly storage: FailingStorage;
  readonly fault: StorageFault;
}

type Play = (scene: Scene) => Promise<void>;

type Kind = Pick<StorageFault, 'database' | 'kind'>;

const DATABASES = ['SQLite', 'PostgreSQL'] as const;

/** A test for each kind of fault or, when not all calls fail, for one kind of each database. */
function testFaults(
  title: string,
  body: (t: TestContext, kind: Kind) => Promise<void>,
  databases: readonly DatabaseName[] = DATABASES,
): void {
  for (const database of databases) {
    const kinds = FAULT_KINDS[database];
    const chosen = kinds.filter((_, index) => index === (SEED + operations) % kinds.length);
    for (const kind of isTorture ? kinds : chosen)
      test(`${database}: ${title} whichever call of storage fails: ${kind}`, (t) =>
        body(t, { database, kind }));
  }
  operations++;
}

/** Whether nobody knows if what failed was done. */
const isUncertain = ({ kind }: Kind) => kind === 'unanswered';

/** Plays an operation on copies of a database. Each time another call fails, until none does. */
async function failEachCall(t: TestContext, kind: Kind, template: Template, play: Play): Promise<void> {
  const playOnce = async (number: number) => {
    const fault = { ...kind, call: number };
    const { lifetime, end } = beginLifetime();
    try {
      const { folder, ...database } = await template.copy(lifetime);
      const storage = failingStorage(lifetime, fault);
      await play({ lifetime, folder, database, storage, fault });
      return { hasFailed: storage.hasFailed(), count: storage.count() };
    } catch (error) {
      throw new Error(`${fault.kind} at call ${fault.call}, SEED=${SEED}`, { cause: error });
    } finally {
      await end();
    }
  };
  let count = 0;
  const most = isTorture ? MOST_STATEMENTS : SAMPLE;
  if (isTorture && kind.database === 'SQLite') while ((await playOnce(count + 1)).hasFailed) count++;
  else {
    ({ count } = await playOnce(Number.MAX_SAFE_INTEGER));
    const draws =
      count <= most
        ? Array.from({ length: count }, (_, index) => index + 1)
        : sample(integer({ min: 1, max: count }), { seed: SEED, numRuns: most });
    // The last one comes behind the commit. A run over PostgreSQL takes longer.
    for (const number of kind.database === 'SQLite' ? [count, ...draws] : draws) await playOnce(number);
  }
  t.diagnostic(`SEED=${SEED}, ${count} calls`);
}

/** Runs a command whose storage fails. It says in one line what was wrong, unless it was killed. */
async function runFailing({ storage, database }: Scene, args: readonly string[]): Promise<Outcome> {
  storage.begin();
  const outcome = await start(args, { ...database.variables, ...storage.variables }).ended;
  storage.end();
  if (outcome.code !== null) assert.doesNotMatch(outcome.stderr, /^\s+at /m);
  if (!storage.hasFailed()) assert.equal(outcome.code, 0, outcome.stderr);
  return outcome;
}

/** Starts a service on a database again, and uses it. Each of `keys` works. */
async function assertServes(
  lifetime: Lifetime,
  { variables, assertInvariants }: TestDatabase,
  keys: readonly string[] = [],
): Promise<void> {
  const service = await startTestService(lifetime, {
    databaseUrl: variables['DATABASE_URL'] ?? '',
    clock: fakeClock(Date.now()),
    env: { WEBHOOKS: 'off' },
  });
  for (const key of keys) assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
  const key = await service.issueKey({ account: 'restart' });
  const body = '{"name":"restart","categoryId":1}';
  assert.equal((await call(service.url, '/v1/pets', { key, body })).status, 201);
  await service.stop();
  await assertInvariants();
}

const namesIn = async ({ rows }: TestDatabase) =>
  (await rows<{ name: string }>('SELECT name FROM pets ORDER BY id')).map(({ name }) => name);

/** A database that has a key. */
async function withKey(t: TestContext, { database }: Kind) {
  const template = await prepareDatabase(t, database);
  const { key } = await issueKey(template.variables, { scopes: SCOPES });
  return { template, key };
}

testFaults('a create, a PATCH, an order and its completion are done once', async (t, kind) => {
  const { template, key } = await withKey(t, kind);
  await failEachCall(t, kind, template, async ({ lifetime, database, storage }) => {
    const env = { ...database.variables, WEBHOOKS: 'off' };
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
    const complete = { headers: { 'idempotency-key': 'complete' }, method: 'POST' };
    await send(`/store/orders/${order}/complete`, complete, 200);
    storage.end();
    service.child.kill('SIGKILL');
    await service.ended;
    service = await startServiceProcess(lifetime, env);
    assert.equal(await send('/pets', create, 201), pet);
    service.child.kill('SIGKILL');
    await service.ended;
    assert.deepEqual(await database.rows('SELECT id, name, status, version FROM pets'), [
      { id: pet, name: 'Max', status: 'sold', version: 4 },
    ]);
    assert.deepEqual(await database.rows('SELECT id, status FROM orders'), [
      { id: order, status: 'complete' },
    ]);
    await database.assertInvariants();
  });
});

for (const [title, isAtomic, rows] of [
  ['an import adds the beginning of its file, and says how far it came,', false, 2_050],
  ['an atomic import adds all or nothing', true, 20],
] as const) {
  testFaults(title, async (t, kind) => {
    const template = await prepareDatabase(t, kind.database);
    const names = Array.from({ length: rows }, (_, number) => `animal ${number}`);
    const lines = names.map((name, number) => `${name},${number < rows / 2 ? 'Cats' : 'Dogs'}`);
    writeFileSync(join(template.folder, 'animals.csv'), ['name,kind', ...lines].join('\n'));
    await failEachCall(t, kind, template, async (scene) => {
      const { folder, database, lifetime } = scene;
      const args = ['import', join(folder, 'animals.csv'), '--map', 'categoryId=kind', '--json'];
      const { code, stdout } = await runFailing(scene, isAtomic ? [...args, '--atomic'] : args);
      await database.assertInvariants();
      const imported = await namesIn(database);
      assert.deepEqual(imported, names.slice(0, imported.length));
      const categories = (await database.rows('SELECT id FROM categories')).length;
      if (code === 0) assert.deepEqual([imported.length, categories], [rows, 2]);
      if (isAtomic) {
        assert.ok([0, rows].includes(imported.length));
        assert.equal(categories, imported.length === 0 ? 0 : 2);
        if (code === 1 && !isUncertain(kind)) assert.equal(imported.length, 0);
      }
      if (code !== null && stdout !== '' && !isUncertain(kind))
        assert.equal(JSON.parse(stdout).imported, imported.length);
      const lost = `SELECT id FROM pets WHERE category_id NOT IN (SELECT id FROM categories)`;
      assert.deepEqual(await database.rows(lost), []);
      await assertServes(lifetime, database);
    });
  });
}

testFaults('keys rotate leaves the old key alone or shows the new one', async (t, kind) => {
  const { template, key } = await withKey(t, kind);
  await failEachCall(t, kind, template, async (scene) => {
    const { database, lifetime } = scene;
    const { code, stdout } = await runFailing(scene, ['keys', 'rotate', '1', '--json']);
    await database.assertInvariants();
    const count = async (statement: string) => (await database.rows(statement)).length;
    const rotated = await count('SELECT id FROM keys WHERE rotated_to IS NOT NULL');
    assert.equal(await count('SELECT id FROM keys'), 1 + rotated);
    assert.equal(await count(`SELECT id FROM audit WHERE action = 'keys rotate'`), rotated);
    if (code === 0) assert.equal(rotated, 1);
    else if (code !== null && !isUncertain(kind)) assert.equal(rotated, 0);
    await assertServes(lifetime, database, code === 0 ? [key, JSON.parse(stdout).key as string] : [key]);
  });
});

testFaults('migrate loses nothing and can be repeated', async (t, kind) => {
  const sql = `
    INSERT INTO pets (name, category_id, status) VALUES ('Rex', 1, 'sold'), ('Max', 2, NULL), ('Gone', 1, NULL);
    DELETE FROM pets WHERE id = 3;
    INSERT INTO accounts (name, folded_name, plan, created_at) VALUES ('shop', 'shop', 'free', 1);
    INSERT INTO idempotency (account_id, key, fingerprint, status, location, body, created_at)
      VALUES (1, 'a', 'f', 201, '/pets/2', '{"id":2}', ${Date.now()})`;
  const old = { migrations: { SQLite: 10, PostgreSQL: 5 }, sql };
  const template = await prepareDatabase(t, kind.database, old);
  const newest = await template.copy(t);
  await run(['migrate'], newest.variables);
  const version =
    kind.database === 'SQLite'
      ? 'PRAGMA user_version'
      : 'SELECT version FROM petstore_schema ORDER BY version';
  const PETS = 'SELECT id, name, category_id, status, version FROM pets ORDER BY id';
  const everything = ({ rows }: TestDatabase) =>
    Promise.all(
      [PETS, 'SELECT * FROM idempotency', 'SELECT * FROM accounts', version].map((statement) =>
        rows(statement),
      ),
    );
  await failEachCall(t, kind, template, async (scene) => {
    const { database, lifetime } = scene;
    const { code } = await runFailing(scene, ['migrate']);
    if (kind.database === 'SQLite')
      assert.deepEqual(await database.rows('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    if (code !== 0) assert.equal((await run(['migrate'], database.variables)).code, 0);
    assert.deepEqual(await everything(database), await everything(newest));
    await assertServes(lifetime, database);
    // No id of before is used again.
    assert.deepEqual(await database.rows(`SELECT id FROM pets WHERE name = 'restart'`), [{ id: 4 }]);
  });
});

/** Adds animals to a database. */
async function addAnimals(variables: Variables, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, number) => `animal ${number},1`);
  await runJson(['import', '-'], variables, ['name,categoryId', ...lines].join('\n'));
}

testFaults('copy leaves an empty target or a whole one', async (t, kind) => {
  const { template, key } = await withKey(t, kind);
  await addAnimals(template.variables, 7);
  const all = await namesIn(template);
  const empty = await prepareDatabase(t, kind.database);
  await failEachCall(t, kind, template, async (scene) => {
    const { database, lifetime } = scene;
    const target = await empty.copy(lifetime);
    const [from = '', to = ''] = [database, target].map(({ variables }) => variables['DATABASE_URL']);
    const args = ['copy', '--from', from, '--to', to];
    const { code } = await runFailing(scene, args);
    if (kind.database === 'SQLite')
      assert.deepEqual(await target.rows('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    // Empty or whole: only an empty one is accepted again.
    const isWhole = (await namesIn(target)).length > 0;
    if (code === 0) assert.ok(isWhole);
    else if (code !== null && !isUncertain(kind)) assert.ok(!isWhole);
    const again = await run(args, database.variables);
    assert.equal(again.code, isWhole ? 1 : 0, again.stderr);
    for (const each of [database, target]) {
      assert.deepEqual(await namesIn(each), all);
      await assertServes(lifetime, each, [key]);
    }
  });
});

/** A SQLite database of 7 animals, and a backup of it when it had 5. PostgreSQL has tools of its own for backups. */
async function withBackup(t: TestContext, kind: Kind) {
  const { template, key } = await withKey(t, kind);
  await addAnimals(template.variables, 5);
  await runJson(['backup', join(template.folder, 'backup')], template.variables);
  const before = await namesIn(template);
  await addAnimals(template.variables, 2);
  return { template, key, before, after: await namesIn(template) };
}

testFaults(
  'backup leaves no half copy',
  async (t, kind) => {
    const { template, key, after } = await withBackup(t, kind);
    await failEachCall(t, kind, template, async (scene) => {
      const { database, folder, lifetime } = scene;
      const backup = join(folder, 'new-backup');
      const { code } = await runFailing(scene, ['backup', backup]);
      // A name that is there is that of a whole backup.
      if (code === 0) assert.ok(existsSync(backup));
      else if (!existsSync(backup)) assert.equal((await run(['backup', backup], database.variables)).code, 0);
      assert.equal(existsSync(`${backup}.unfinished`), false);
      for (const each of [sqliteDatabase(backup), database]) {
        assert.deepEqual(await namesIn(each), after);
        await assertServes(lifetime, each, [key]);
      }
    });
  },
  ['SQLite'],
);

testFaults(
  'restore leaves the old database or the whole backup',
  async (t, kind) => {
    const { template, key, before, after } = await withBackup(t, kind);
    await failEachCall(t, kind, template, async (scene) => {
      const { database, folder, lifetime } = scene;
      const restore = ['restore', join(folder, 'backup')];
      const { code, stderr } = await runFailing(scene, restore);
      const names = await namesIn(database);
      const isReplaced = code === null ? names.length === before.length : /^$|now holds/.test(stderr);
      assert.deepEqual(names, isReplaced ? before : after);
      // After a kill, the old one may have two names, and no service opens it.
      if (statSync(join(folder, 'petstore.db')).nlink === 1) await assertServes(lifetime, database, [key]);
      else assert.equal(code, null);
      assert.equal((await run(restore, database.variables)).code, 0);
      assert.deepEqual(await namesIn(database), before);
      await assertServes(lifetime, database, [key]);
    });
  },
  ['SQLite'],
);

testFaults('a webhook gets its events', async (t, kind) => {
  const { template, key } = await withKey(t, kind);
  const endpoint = await startEndpoint(t);
  const WEBHOOKS_ALLOW_PRIVATE = 'true';
  const body = JSON.stringify({ url: endpoint.url, types: ['pet.created'] });
  await failEachCall(t, kind, template, async ({ lifetime, database, storage, fault }) => {
    const env = { ...database.variables, WEBHOOKS_ALLOW_PRIVATE };
    // Not in the template, because a copied database disables its webhooks.
    const preparation = await startTestService(lifetime, {
      databaseUrl: database.variables['DATABASE_URL'] ?? '',
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
    const isNoted = async () =>
      (await database.rows(`SELECT id FROM deliveries WHERE status = 'succeeded'`)).length > 0;
    storage.begin();
    const created = await create();
    if (created?.status === 201) await until(async () => (await isNoted()) || storage.hasFailed());
    storage.end();
    if (storage.hasFailed() && fault.kind === 'kill') {
      await service.ended;
      // Instead of 20 s, after which the lease of the dead one is over.
      await database.execute('UPDATE webhooks SET leased_until = 0');
      service = await startServiceProcess(lifetime, env);
    }
    if (created?.status !== 201) assert.equal((await create())?.status, 201);
    await until(async () => hasEvent() && (await isNoted()));
    service.child.kill('SIGKILL');
    await service.ended;
    await database.assertInvariants();
  });
});
