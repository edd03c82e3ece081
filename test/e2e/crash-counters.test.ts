// What a killed process leaves behind. Contract: section 6.7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { PLANS } from '../../src/domain/plan.ts';
import { fakeClock } from '../support/clock.ts';
import { each, keepAliveClient, type Sent } from '../support/load.ts';
import { startServiceProcess, temporaryEnvironment } from '../support/process.ts';
import { createAccount, issueKey, openStore } from '../support/store.ts';

const ACCOUNTS = 1_500;

/** Makes accounts with a key each, and gives the keys. */
async function issueKeys(url: string, count: number): Promise<string[]> {
  const store = openStore(url, fakeClock());
  const { accounts, keys } = store;
  const issued = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const account = await createAccount(accounts, `account ${index}`, 'free', PLANS.free);
      const { key } = await issueKey(keys, { accountId: account.id, scopes: ['pets:read'] });
      return key.reveal();
    }),
  );
  await store.close();
  return issued;
}

/** One request, with this key or with none that is valid. */
async function list(url: string, key: string): Promise<Sent> {
  const client = keepAliveClient(url, key, 1);
  try {
    return await client.send('/v1/pets');
  } finally {
    client.close();
  }
}

test('a crash keeps counts of 1,500 accounts from 10 s before, and forgets addresses', async (t) => {
  const env = temporaryEnvironment(t);
  const url = env['DATABASE_URL'] ?? '';
  const keys = await issueKeys(url, ACCOUNTS);
  const service = await startServiceProcess(t, env);
  await each(keys, 16, async (key) => {
    assert.equal((await list(service.url, key)).status, 200);
  });
  for (const remaining of [999, 998]) {
    const { headers } = await list(service.url, 'none');
    assert.match(String(headers['ratelimit']), new RegExp(`"day";r=${remaining};`));
  }
  const db = new DatabaseSync(url.replace('sqlite:', ''), { readOnly: true });
  t.after(() => db.close());
  const rows = db.prepare('SELECT count(*) AS count FROM usage');
  // The service writes them all by itself within ten seconds.
  while (rows.get()?.['count'] !== ACCOUNTS);
  service.child.kill('SIGKILL');
  await service.ended;

  const again = await startServiceProcess(t, env);
  for (const key of [keys.at(0), keys.at(-1)]) {
    const { status, headers } = await list(again.url, key ?? '');
    assert.equal(status, 200);
    assert.match(String(headers['ratelimit']), /"day";r=998;/);
  }
  const stranger = await list(again.url, 'none');
  assert.equal(stranger.status, 401);
  assert.match(String(stranger.headers['ratelimit']), /"day";r=999;/);
});

test('a clean stop keeps what an address used', async (t) => {
  const env = temporaryEnvironment(t);
  const service = await startServiceProcess(t, env);
  for (let call = 0; call < 5; call++) await list(service.url, 'none');
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
  const again = await startServiceProcess(t, env);
  const { headers } = await list(again.url, 'none');
  assert.match(String(headers['ratelimit']), /"day";r=994;/);
});
