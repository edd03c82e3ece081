// Contract: sections 13.2 and 13.3.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { assertError, call } from '../support/api.ts';
import { newDatabase } from '../support/new-database.ts';
import { run } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

test('a restart goes on with the feed; a restored backup begins a new one and disables its endpoints', async (t) => {
  const folder = temporaryFolder(t);
  const [file, backup] = [join(folder, 'petstore.db'), join(folder, 'backup.db')];
  newDatabase(file);
  const options = { databaseUrl: `sqlite:${file}`, env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } };
  const first = await startTestService(t, options);
  const key = await first.issueKey();
  const begin = await call(first.url, '/v1/events?after=now', { key });
  const next = new URL(/<(.*)>/.exec(begin.headers.get('link') ?? '')?.[1] ?? '');
  const path = next.pathname + next.search;
  await call(first.url, '/v1/webhooks', { key, body: '{"url":"http://127.0.0.1:1/"}' });
  await first.store.backup(backup);
  await call(first.url, '/v1/pets', { key, body: '{"name":"Lost","categoryId":7}' });
  await first.stop();

  const second = await startTestService(t, options);
  assert.equal((await call(second.url, path, { key })).json[0].data.name, 'Lost');
  assert.equal((await call(second.url, '/v1/webhooks/1', { key })).json.enabled, true);
  await second.stop();

  assert.equal((await run(['restore', backup], { DATABASE_URL: options.databaseUrl })).code, 0);
  const third = await startTestService(t, options);
  assertError(await call(third.url, path, { key }), 'cursor_expired');
  assert.equal((await call(third.url, '/v1/webhooks/1', { key })).json.disabledReason, 'copied');
});
