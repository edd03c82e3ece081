// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { assertError, call } from '../support/api.ts';
import { startTestService, temporaryDatabase } from '../support/service.ts';
import { idempotencyContract } from './idempotency-contract.ts';

const REX = '{"name":"Rex","categoryId":7}';
const withKey = (value: string) => ({ 'idempotency-key': value });

idempotencyContract('SQLite', startTestService);

for (const value of ['', ' ', 'a b', 'x'.repeat(256), 'naïve', 'a\tb']) {
  test(`an Idempotency-Key of ${JSON.stringify(value.slice(0, 9))} is 400 invalid_parameter`, async (t) => {
    const service = await startTestService(t);
    const key = await service.issueKey();
    const headers = withKey(Buffer.from(value).toString('latin1'));
    const answer = await call(service.url, '/v1/pets', { key, body: REX, headers });
    assertError(answer, 'invalid_parameter');
    assert.match(answer.json.message, /Idempotency-Key/);
  });
}

test('the longest Idempotency-Key has 255 visible ASCII characters', async (t) => {
  const service = await startTestService(t);
  const headers = withKey('~'.repeat(255));
  assert.equal(
    (await call(service.url, '/v1/pets', { key: await service.issueKey(), body: REX, headers })).status,
    201,
  );
});

test('409 while the first request with the Idempotency-Key has no outcome', async (t) => {
  const databaseUrl = temporaryDatabase(t);
  const service = await startTestService(t, { databaseUrl });
  const key = await service.issueKey();
  const send = () => call(service.url, '/v1/pets', { key, body: REX, headers: withKey('order-1') });
  const other = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const answers = [send(), send()];
  // The service's clock runs 20 times as fast as ours, until the one that came second has waited its second.
  const hurry = setInterval(() => service.clock.advance(20), 1);
  const early = await Promise.race(answers).finally(() => clearInterval(hurry));
  assertError(early, 'conflict');
  assert.equal(early.headers.get('retry-after'), '1');
  other.exec('ROLLBACK');
  assert.deepEqual((await Promise.all(answers)).map(({ status }) => status).toSorted(), [201, 409]);
});
