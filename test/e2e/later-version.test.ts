// Contract: sections 10 and 13. While an upgrade runs, a later version writes into the same database.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { DAY } from '../../src/domain/clock.ts';
import { assertError, call } from '../support/api.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { ROOT } from '../support/store.ts';
import { until } from '../support/until.ts';

const PET = '{"name":"Rex","categoryId":7,"status":"available"}';

/** A service with a key, and a connection to its database that obeys no check. */
async function startBeside(t: TestContext) {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  t.after(() => db.close());
  db.exec('PRAGMA ignore_check_constraints = ON');
  const key = await service.issueKey();
  const send = (path: string, body?: string) =>
    call(service.url, `/v1${path}`, { key, ...(body && { body }) });
  return { service, db, send };
}

test('events of a later version are skipped by readers, and deleted like others', async (t) => {
  const { service, db, send } = await startBeside(t);
  await send('/pets', PET);
  const add = db.prepare(`INSERT INTO events (account_id, environment, type, at, data)
    VALUES (0, '', 'shelter.opened', ?, '{}')`);
  for (let event = 0; event < 3; event++) add.run(Math.floor(service.clock().unix));
  await send('/pets', PET);
  const page = await send('/events?type=pet.*');
  assert.deepEqual(
    page.json.map(({ type }: { type: string }) => type),
    ['pet.created', 'pet.created'],
  );
  const { events } = service.store;
  assert.equal((await events.look(0n)).streams.at(-1)?.type, 'pet.created');
  assert.equal(await events.findPlace(0), 0n);
  await service.passTime(2 * DAY);
  await events.prune(DAY);
  assert.equal(db.prepare('SELECT count(*) AS n FROM events').get()?.['n'], 0);
});

test('entries of the audit log by actors of a later version are left out, page by page', async (t) => {
  const { service, db } = await startBeside(t);
  const { audit } = service.store;
  const add = db.prepare(`INSERT INTO audit (at, actor_kind, actor, action, target_kind, target)
    VALUES (?, 'robot', 'R2', 'pets feed', 'pet', '1')`);
  const now = Math.floor(service.clock().unix);
  for (let entry = 0; entry < 10; entry++) {
    await audit.add(ROOT, { action: `test ${entry}`, target: { kind: 'pet', name: '1' } });
    for (let robot = 0; robot < entry % 4; robot++) add.run(now);
  }
  for (const limit of [1, 2, 3, 5, 20]) {
    const listed: string[] = [];
    let cursor: bigint | undefined;
    do {
      const page = await audit.list({ limit, cursor });
      listed.push(...page.items.map(({ action }) => action).filter((action) => action.startsWith('test')));
      cursor = page.next;
    } while (cursor !== undefined && listed.length < 100);
    assert.deepEqual(
      listed,
      Array.from({ length: 10 }, (_, entry) => `test ${9 - entry}`),
      `pages of ${limit}`,
    );
  }
});

test('a key with a scope of a later version has its other scopes', async (t) => {
  const { db, send } = await startBeside(t);
  db.exec(`UPDATE keys SET scopes = 'pets:read shelters:read'`);
  db.exec('UPDATE key_changes SET count = count + 1');
  await until(async () => (await send('/pets', PET)).status === 403);
  assert.equal((await send('/pets')).status, 200);
});

test('a value that no version writes is a 500 that says nothing, and the log names the column', async (t) => {
  const { service, db, send } = await startBeside(t);
  const petId = (await send('/pets', PET)).json.id as number;
  const order = (await send('/store/orders', `{"petId":${petId}}`)).json as { id: number };
  db.exec(`UPDATE orders SET status = 'teleported'`);
  const answer = await send(`/store/orders/${order.id}`);
  assertError(answer, 'internal_error');
  assert.doesNotMatch(answer.text, /teleported|orders/);
  assert.match(service.logText(), /The column orders\.status has \\"teleported\\" instead of one of/);
});
