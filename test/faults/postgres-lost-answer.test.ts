// Contract: section 3.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { issueKey } from '../support/instances.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import { run, startServiceProcess } from '../support/process.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';

/** A service that reaches PostgreSQL through a network with faults. */
async function startBehindProxy(t: TestContext) {
  const direct = { DATABASE_URL: await temporaryPostgres(t) };
  const { key } = await issueKey(direct);
  const proxy = await startTcpProxy(t, direct.DATABASE_URL);
  const variables = { DATABASE_URL: proxy.url, PORT: '0' };
  const service = await startServiceProcess(t, variables);
  const create = (name: string, headers: Record<string, string> = {}) =>
    call(service.url, '/v1/pets', { key, body: `{"name":"${name}","categoryId":1}`, headers });
  /** The names that are stored, newest first, whatever the service says. */
  const stored = async () => {
    const { stdout } = await run(['export'], direct);
    return [...stdout.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name);
  };
  return { proxy, create, stored };
}

test('a create whose COMMIT answer is lost gets 503, and its retry replays it', async (t) => {
  const { proxy, create, stored } = await startBehindProxy(t);
  const once = { 'idempotency-key': 'order-1' };
  proxy.cutAnswerTo('Rex', 'COMMIT');
  const lost = await create('Rex', once);
  assertError(lost, 'unavailable');
  assertRateHeaders(lost);
  assert.match(lost.headers.get('retry-after') ?? '', /^\d+$/);
  assert.deepEqual(await stored(), ['Rex']);
  const again = await create('Rex', once);
  assert.equal(again.status, 201);
  assert.equal(again.headers.get('idempotent-replay'), 'true');
  assert.deepEqual(await stored(), ['Rex']);
});

test('the service never repeats a create by itself', async (t) => {
  const { proxy, create, stored } = await startBehindProxy(t);
  proxy.cutAnswerTo('Rex');
  // Others that share the statement are as uncertain as this one.
  const answers = await Promise.all(['Rex', 'Bello', 'Mimi'].map((name) => create(name)));
  assertError(answers[0] ?? assert.fail(), 'unavailable');
  const names = await stored();
  assert.equal(names.filter((name) => name === 'Rex').length, 1);
  assert.equal(new Set(names).size, names.length);
  assert.equal((await create('Fido')).status, 201, 'it goes on');
});
