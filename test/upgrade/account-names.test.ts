// Contract: section 5.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Client } from 'pg';
import { PLANS } from '../../src/domain/plan.ts';
import type { AccountRepository } from '../../src/resources/accounts/repository.ts';
import { fakeClock } from '../support/clock.ts';
import { makeOldPostgres, makeOldSqlite } from '../support/old-schema.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { run } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { changeAccount, openStore, createAccount, findAccount, findKey, ROOT } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

// Accounts of versions that did not ignore the case of names: see docs/design/keys-and-operators.md.

const insert = (...names: string[]) =>
  `INSERT INTO accounts (name, plan, created_at) VALUES ${names.map((name) => `('${name}', 'free', 1)`).join()}`;

const BEFORE = insert('Shop', 'Zoo', 'shop');

async function assertKept(accounts: AccountRepository): Promise<void> {
  for (const [id, name] of [
    [1, 'Shop'],
    [2, 'Zoo'],
    [2, 'zoo'],
    [3, 'shop'],
  ] as const)
    assert.equal((await findAccount(accounts, name))?.id, id, name);
  const ambiguous = {
    code: 'conflict',
    message: 'There are accounts Shop and shop: write one of these names exactly.',
  };
  await assert.rejects(findAccount(accounts, 'SHOP'), ambiguous);
  for (const taken of ['SHOP', 'zoo'])
    await assert.rejects(createAccount(accounts, taken, 'free', PLANS.free), { code: 'conflict' });
  assert.deepEqual(await accounts.change(ROOT, 3, { name: 'sHOP' }), {
    error: 'conflict',
    message: 'There is an account Shop already; the case of a name does not count.',
  });
  await changeAccount(accounts, 1, { name: 'store' });
  assert.equal((await findAccount(accounts, 'SHOP'))?.id, 3);
  await assert.rejects(createAccount(accounts, 'SHOP', 'free', PLANS.free), { code: 'conflict' });
  await changeAccount(accounts, 3, { name: 'SHOP' });
  assert.deepEqual(
    (await accounts.listAll()).map(({ name }) => name),
    ['store', 'Zoo', 'SHOP'],
  );
}

test('an upgrade of SQLite keeps accounts whose names differ in case only', async (t) => {
  const file = join(temporaryFolder(t), 'petstore.db');
  makeOldSqlite(file, 8, BEFORE);
  const store = openStore(`sqlite:${file}`, fakeClock());
  t.after(() => store.close());
  await assertKept(store.accounts);
});

test('an upgrade of PostgreSQL keeps accounts whose names differ in case only', async (t) => {
  const url = await temporaryPostgres(t);
  await makeOldPostgres(url, 3, BEFORE);
  const service = await startTestService(t, { databaseUrl: url });
  await assertKept(service.store.accounts);
  await service.stop();
});

test('a migration that must wait for a dump gives up before requests do', async (t) => {
  const url = await temporaryPostgres(t);
  await makeOldPostgres(url, 3, BEFORE);
  const dump = new Client(url);
  await dump.connect();
  await dump.query('BEGIN; LOCK TABLE keys IN ACCESS SHARE MODE');
  const { code, stderr } = await run(['migrate'], { DATABASE_URL: url });
  assert.equal(code, 1);
  assert.match(stderr, /lock timeout; wait until the other session, .*, has ended, and start again\.\n$/);
  await dump.end();
  assert.equal((await run(['migrate'], { DATABASE_URL: url })).code, 0);
});

test('a command of the previous version adds accounts and keys after the upgrade', async (t) => {
  const url = await temporaryPostgres(t);
  const service = await startTestService(t, { databaseUrl: url });
  const client = new Client(url);
  await client.connect();
  await client.query(insert('Shop'));
  await client.query(
    `INSERT INTO keys (account_id, hash, environment, scopes, created_at) VALUES (1, 'aa', 'production', 'pets:read', 1)`,
  );
  await client.end();
  const { accounts, keys } = service.store;
  assert.equal((await findAccount(accounts, 'shop'))?.id, 1);
  await assert.rejects(createAccount(accounts, 'shop', 'free', PLANS.free), { code: 'conflict' });
  const key = await findKey(keys, 1);
  assert.deepEqual(
    [key?.ending, key?.rotatedTo, key?.account.suspendedAt],
    [undefined, undefined, undefined],
  );
  await service.stop();
});
