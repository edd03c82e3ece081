// Contract: section 10.2.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { assertError, call } from '../../../test/support/api.ts';
import { adminOf, startTestConsole } from '../../../test/support/console.ts';
import { temporaryDatabase } from '../../../test/support/service.ts';

test('an error of the database that is no outage is 500, and its cause is in the log', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const { its, ask } = await adminOf(await startTestConsole(t, { databaseUrl }));
  const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  // The service's own statement cannot run, as with too many variables.
  db.exec('ALTER TABLE standings RENAME TO elsewhere');
  for (const path of ['/bans', '/overview']) assertError(await ask(path), 'internal_error');
  db.exec('ALTER TABLE elsewhere RENAME TO standings');
  db.close();
  const faults = its.log.filter(({ msg }) => msg === 'internal error');
  assert.equal(faults.length, 2);
  for (const { err } of faults) assert.match((err as Error).message, /no such table/);
});

test('a failed request names the parameter, field or header that its message is about', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  const key = await its.issueKey({ account: 'shop' });
  const json = (body: object | undefined) => ({
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body) ?? '',
  });
  await call(its.url, '/v1/pets?limit=0', { key });
  await call(its.url, '/v1/account/usage?from=2020-01-01T00:00:00Z', { key });
  await call(its.url, '/v1/pets', json({ name: 'Rex', categoryId: 1, status: 'lost' }));
  await call(its.url, '/v1/pets', json(undefined));
  await call(its.url, '/v1/pets', {
    ...json({ name: 'Rex' }),
    headers: { 'idempotency-key': 'a b' },
  });
  const failed = (await ask('/failed-requests')).json as readonly { readonly parameter?: string }[];
  assert.deepEqual(failed.map(({ parameter }) => parameter).toReversed(), [
    'limit',
    'from',
    'status',
    undefined,
    'Idempotency-Key',
  ]);
});

test('a failed request names the key that was sent also if it is revoked, and hides a key in a user agent', async (t) => {
  const { its, ask } = await adminOf(await startTestConsole(t));
  const key = await its.issueKey({ account: 'shop' });
  assert.equal((await ask('/keys/1', { method: 'DELETE' })).status, 204);
  await call(its.url, '/v1/pets', { key, headers: { 'user-agent': `curl ${key}` } });
  const [failed] = (await ask('/failed-requests')).json as readonly Record<string, unknown>[];
  const { status, account, keyId, userAgent } = failed ?? {};
  assert.deepEqual([status, account, keyId, userAgent], [401, 'shop', 1, undefined]);
});
