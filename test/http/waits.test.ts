// What a request waits for is no latency. Contract: sections 3.12 and 10.2.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { text as textOf } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { SECOND } from '../../src/domain/clock.ts';
import { call } from '../support/api.ts';
import { startTestConsole } from '../support/console.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { temporaryDatabase } from '../support/service.ts';

const WAIT = 20 * SECOND;

const REX = '{"name":"Rex","categoryId":7}';

/** A service whose clock only `wait` moves, and what it says of the requests with an id. */
async function start(t: TestContext, limits = {}) {
  const databaseUrl = temporaryDatabase(t);
  const env = { METRICS_PORT: '0', WEBHOOKS_ALLOW_PRIVATE: 'true' };
  const service = await startTestConsole(t, { databaseUrl, env, limits });
  const key = await service.issueKey();
  const token = await service.makeToken('ada');
  const { url, listener, metricsUrl = '' } = service;
  /** Lets time pass when what was sent before waits. */
  const wait = async (milliseconds = WAIT) => {
    for (let times = 0; times < 5; times++) await call(url, '/healthz');
    service.clock.advance(milliseconds);
  };
  const open = (base: string, head: string) => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.write(head);
    return socket;
  };
  const times = (id: string) => {
    const line = service.log.find((each) => each['id'] === id);
    return [Number(line?.['durationMs']), Number(line?.['waitedMs'] ?? 0)];
  };
  return {
    ...service,
    path: databaseUrl.slice('sqlite:'.length),
    key,
    send: (path: string, asked = {}) => call(url, `/v1${path}`, { key, ...asked }),
    wait,
    open,
    times,
    /** Checks that no wait is in the log as work, in the overview, or in the histogram. */
    assertFast: async (id: string) => {
      const [duration = 0, waited = 0] = times(id);
      assert.ok(duration < SECOND, `worked for ${duration} ms`);
      assert.ok(waited >= WAIT, `waited for ${waited} ms`);
      const { latency } = (
        await call(listener, '/admin/v1/overview', {
          key: token,
          headers: { host: new URL(service.consoleUrl).host },
        })
      ).json;
      assert.ok(latency.p99 === undefined || latency.p99 < SECOND, `the p99 is ${latency.p99} ms`);
      const { text } = await call(metricsUrl, '/metrics');
      for (const [line, sum] of text.matchAll(/^petstore_request_duration_seconds_sum.* (\S+)$/gm))
        assert.ok(Number(sum) < 1, line);
    },
  };
}

test('a long poll is no latency', async (t) => {
  const { send, wait, assertFast } = await start(t);
  const link = /<[^>]*\/v1([^>]+)>; rel="next"/.exec(
    (await send('/events?after=now&wait=30')).headers.get('link') ?? '',
  )?.[1];
  const poll = send(link ?? '', { headers: { 'x-request-id': 'poll' } });
  await wait();
  await send('/pets', { body: REX });
  assert.equal((await poll).json.length, 1);
  await assertFast('poll');
});

test('a body that its client sends slowly is no latency', async (t) => {
  const { url, key, open, wait, assertFast } = await start(t);
  const socket = open(
    url,
    `POST /v1/pets HTTP/1.1\r\nHost: a\r\nX-Request-Id: slow\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${REX.length}\r\nConnection: close\r\n\r\n`,
  );
  const answer = textOf(socket);
  await wait();
  socket.write(REX);
  assert.match(await answer, /^HTTP\/1\.1 201 /);
  await assertFast('slow');
});

test('a body that does not come in time is no latency', async (t) => {
  const { url, key, open, wait, assertFast } = await start(t, {
    headersTimeout: 1_000,
    requestTimeout: 1_000,
    checkingInterval: 20,
  });
  const socket = open(
    url,
    `POST /v1/pets HTTP/1.1\r\nHost: a\r\nX-Request-Id: late\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`,
  );
  const answer = textOf(socket);
  await wait();
  assert.match(await answer, /^HTTP\/1\.1 408 /);
  await assertFast('late');
});

test('a body that an operator sends slowly is no latency', async (t) => {
  const { listener, consoleUrl, open, wait, assertFast } = await start(t);
  const { host, origin } = new URL(consoleUrl);
  const body = '{"link":"x"}';
  const socket = open(
    listener,
    `POST /sign-in HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nX-Request-Id: slow\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
  );
  const answer = textOf(socket);
  await wait();
  socket.write(body);
  assert.match(await answer, /^HTTP\/1\.1 401 /);
  await assertFast('slow');
});

test('the test of a webhook is no latency', async (t) => {
  const { send, clock, assertFast } = await start(t);
  const { url } = await startEndpoint(t, async () => {
    clock.advance(WAIT);
    return 204;
  });
  const { id } = (await send('/webhooks', { body: JSON.stringify({ url }) })).json;
  const tested = await send(`/webhooks/${id}/test`, { method: 'POST', headers: { 'x-request-id': 'test' } });
  assert.equal(tested.status, 200, tested.text);
  await assertFast('test');
});

test('the wait for the first request with an idempotency key is no latency', async (t) => {
  const { send, path, wait, times } = await start(t);
  const create = (id: string) =>
    send('/pets', { body: REX, headers: { 'idempotency-key': 'a', 'x-request-id': id } });
  const other = new DatabaseSync(path);
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  const both = [create('first'), create('second')];
  // Less than a write waits for the lock.
  await wait(3 * SECOND);
  other.exec('ROLLBACK');
  for (const answer of await Promise.all(both)) assert.equal(answer.status, 201);
  const all = [times('first'), times('second')];
  const [working = [], waiting = []] = all[0]?.[1] === 0 ? all : all.toReversed();
  assert.ok((working[0] ?? 0) >= 3 * SECOND && working[1] === 0);
  assert.ok((waiting[0] ?? WAIT) < SECOND && (waiting[1] ?? 0) >= 3 * SECOND);
});
