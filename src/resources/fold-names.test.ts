// Contract: sections 2.5 and 5. Names with ı that the version before has folded to i.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { PLANS } from '../domain/plan.ts';
import { DATABASES, storeOf } from '../../test/support/databases.ts';
import { createAccount, findAccount, ROOT } from '../../test/support/store.ts';
import { requireValue } from '../../test/storage/fixture.ts';
import { test } from '../../test/support/test.ts';

/** Runs SQL as the version before would. */
async function execute(databaseUrl: string, statement: string): Promise<void> {
  if (databaseUrl.startsWith('sqlite:')) {
    const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
    db.exec(statement);
    db.close();
    return;
  }
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

for (const [database, prepare] of Object.entries(DATABASES)) {
  test(`${database}: ı and i are two letters in every kind of name`, async (t) => {
    const { accounts, categories, operators } = await storeOf(t, await prepare(t));
    for (const name of ['Işık', 'Isik']) {
      await createAccount(accounts, name, 'free', PLANS.free);
      requireValue(await categories.create(ROOT, { name }));
      requireValue(await operators.create(ROOT, name, 'admin'));
    }
    assert.equal((await findAccount(accounts, 'IŞıK'))?.name, 'Işık');
    assert.equal(await findAccount(accounts, 'Işik'), undefined);
  });

  test(`${database}: names that the version before has folded are folded again at the next start`, async (t) => {
    const variables = await prepare(t);
    const before = await storeOf(t, variables);
    // More than one transaction.
    const many = Array.from({ length: 600 }, (_, n) => `kır ${n}`);
    for (const name of ['Işık', 'Şirin']) {
      await createAccount(before.accounts, name, 'free', PLANS.free);
      requireValue(await before.operators.create(ROOT, name, 'admin'));
    }
    for (const name of many) requireValue(await before.categories.create(ROOT, { name }));
    for (const table of ['accounts', 'categories', 'operators'])
      await execute(
        variables['DATABASE_URL'] ?? '',
        `UPDATE ${table} SET folded_name = replace(folded_name, 'ı', 'i')`,
      );
    const { accounts, categories, operators } = await storeOf(t, variables);
    assert.equal((await findAccount(accounts, 'Işık'))?.id, 1);
    assert.equal(await findAccount(accounts, 'Işik'), undefined);
    assert.equal((await findAccount(accounts, 'ŞİRİN'.replaceAll('İ', 'i')))?.id, 2);
    assert.equal(requireValue(await operators.find('işık')).id, 1);
    assert.deepEqual(await categories.create(ROOT, { name: 'KıR 599' }), { error: 'conflict' });
    requireValue(await categories.create(ROOT, { name: 'KIR 599' }));
    await createAccount(accounts, 'Isik', 'free', PLANS.free);
  });

  test(`${database}: a name that was given twice meanwhile does not keep the service from its start`, async (t) => {
    const variables = await prepare(t);
    const before = await storeOf(t, variables);
    requireValue(await before.categories.create(ROOT, { name: 'kır' }));
    // The version before adds the same name.
    await execute(
      variables['DATABASE_URL'] ?? '',
      `INSERT INTO categories (name, folded_name, version) VALUES ('kır', 'kir', 1)`,
    );
    const { categories } = await storeOf(t, variables);
    assert.equal((await categories.list({ limit: 10 })).items.length, 2);
    assert.deepEqual(await categories.create(ROOT, { name: 'KIR' }), { error: 'conflict' });
  });
}
