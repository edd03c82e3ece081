import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { each, keepAliveClient } from '../support/load.ts';
import { startServiceProcess, temporaryEnvironment } from '../support/process.ts';

const CALLERS = 3_000;

/** What was written down, in rows or in the journal. */
const WRITTEN = `
  SELECT count(*) AS callers FROM (
    SELECT caller FROM usage UNION SELECT value ->> 0 FROM journal, json_each(journal.usage)
  )`;

test('decisions §6: what thousands of callers used a second before a crash is counted after it', async (t) => {
  const temporary = temporaryEnvironment(t);
  const env = { ...temporary, TRUST_PROXY: '127.0.0.1' };
  const service = await startServiceProcess(t, env);
  const addresses = Array.from({ length: CALLERS }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  const callFrom = (client: ReturnType<typeof keepAliveClient>, address: string) =>
    client.send('/v1/pets', undefined, { 'x-forwarded-for': address });
  const client = keepAliveClient(service.url, 'none', 16);
  await each(addresses, 16, async (address) => {
    await callFrom(client, address);
  });
  client.close();
  const db = new DatabaseSync(temporary['DATABASE_URL']?.replace('sqlite:', '') ?? '', { readOnly: true });
  t.after(() => db.close());
  const written = db.prepare(WRITTEN);
  // The service writes within a second by itself.
  while (written.get()?.['callers'] !== CALLERS);
  service.child.kill('SIGKILL');
  await service.ended;

  const again = await startServiceProcess(t, env);
  assert.deepEqual(
    db
      .prepare('SELECT (SELECT count(*) FROM usage) AS rows, (SELECT count(*) FROM journal) AS journal')
      .get(),
    Object.assign(Object.create(null) as object, { rows: CALLERS, journal: 0 }),
  );
  const after = keepAliveClient(again.url, 'none', 1);
  for (const address of [addresses.at(0), addresses.at(-1)]) {
    const { status, headers } = await callFrom(after, address ?? '');
    assert.equal(status, 401);
    assert.match(String(headers['ratelimit']), /"day";r=998;/);
  }
  after.close();
});
