// Contract: sections 4, 6 and 8.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { suite } from 'node:test';
import { Client } from 'pg';
import { SCOPES } from '../../src/domain/scope.ts';
import { call } from '../support/api.ts';
import { onPostgres } from '../support/databases.ts';
import { type Reply, startEndpoint } from '../support/endpoint.ts';
import { issueKey } from '../support/instances.ts';
import { each, keepAliveClient } from '../support/load.ts';
import { run, startServiceProcess, temporaryEnvironment, waitFor } from '../support/process.ts';
import { test } from '../support/test.ts';

const REX = '{"name":"Rex","categoryId":7}';

// At once, because most of them wait for a time limit.
/** Sends the head of a create, and resolves when the service asks for the body. */
async function beginCreate(url: string, key: string, length: number) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const fields = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`;
  socket.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}Expect: 100-continue\r\n\r\n`);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  await once(socket, 'data');
  return { socket, answer: () => answer };
}

void suite('stop', { concurrency: true }, () => {
  test('SIGTERM finishes accepted requests, writes exact counters and exits 0', async (t) => {
    const env = temporaryEnvironment(t);
    const { key } = await issueKey(env, { plan: 'free' });
    const service = await startServiceProcess(t, env);
    for (let i = 0; i < 7; i++) await call(service.url, '/v1/pets', { key });

    // A create that is accepted, but whose body is still on its way.
    const { socket, answer } = await beginCreate(service.url, key, REX.length);
    service.child.kill('SIGTERM');
    await waitFor(service, ({ stdout }) => (stdout.includes('"stopping"') ? true : undefined));
    socket.write(REX);
    await once(socket, 'close');
    assert.match(answer(), /HTTP\/1\.1 201 Created/);
    assert.equal((await service.ended).code, 0);

    const [usage] = JSON.parse((await run(['usage', '--json'], env)).stdout) as [
      { day: { remaining: number } },
    ];
    assert.equal(usage.day.remaining, 1_000 - 8);
  });

  test('a clean stop writes the last use of each key', async (t) => {
    const env = temporaryEnvironment(t);
    const { key } = await issueKey(env, { plan: 'free' });
    const lastUsedAt = async () => {
      const { stdout } = await run(['keys', 'list', '--json'], env);
      return (JSON.parse(stdout) as [{ lastUsedAt: string | null }])[0].lastUsedAt;
    };
    const service = await startServiceProcess(t, env);
    await call(service.url, '/v1/pets', { key });
    while ((await lastUsedAt()) === null);
    // Within a minute of the first use: it would be written down only after it.
    const before = new Date().toISOString();
    await call(service.url, '/v1/pets', { key });
    service.child.kill('SIGTERM');
    await service.ended;
    const last = await lastUsedAt();
    assert.ok(last !== null && last >= before, `${last} is before ${before}`);
  });

  test('a second signal ends the process at once', async (t) => {
    const env = temporaryEnvironment(t);
    const { key } = await issueKey(env, { plan: 'free' });
    const service = await startServiceProcess(t, env);
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const fields = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n`;
    socket.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\n${fields}Expect: 100-continue\r\n\r\n`);
    await once(socket, 'data');
    service.child.kill('SIGTERM');
    await waitFor(service, ({ stdout }) => (stdout.includes('"stopping"') ? true : undefined));
    service.child.kill('SIGTERM');
    const { code } = await service.ended;
    assert.notEqual(code, 0, 'what was accepted was not finished');
  });

  test('SIGINT stops the service as SIGTERM does', async (t) => {
    const service = await startServiceProcess(t, temporaryEnvironment(t));
    service.child.kill('SIGINT');
    assert.equal((await service.ended).code, 0);
  });

  test('a crash loses at most the last second of counting', async (t) => {
    const env = temporaryEnvironment(t);
    const { key } = await issueKey(env, { plan: 'free' });
    const service = await startServiceProcess(t, env);
    for (let i = 0; i < 7; i++) await call(service.url, '/v1/pets', { key });
    const remaining = async () => {
      const [usage] = JSON.parse((await run(['usage', '--json'], env)).stdout) as [
        { day: { remaining: number } },
      ];
      return usage.day.remaining;
    };
    // The service writes within a second by itself; what the command line then shows has outlived any crash.
    while ((await remaining()) !== 1_000 - 7);
    service.child.kill('SIGKILL');
    await service.ended;
    const again = await startServiceProcess(t, env);
    const answer = await call(again.url, '/v1/pets', { key });
    assert.match(answer.headers.get('ratelimit') ?? '', /"day";r=992;/);
  });

  test('a stop that cannot write the last counts logs it and exits 1', async (t) => {
    const env = temporaryEnvironment(t);
    const { key } = await issueKey(env, { plan: 'free' });
    const service = await startServiceProcess(t, env);
    const other = new DatabaseSync(env['DATABASE_URL']?.slice('sqlite:'.length) ?? '');
    t.after(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    await call(service.url, '/v1/pets', { key });
    service.child.kill('SIGTERM');
    const { code, stdout } = await service.ended;
    assert.equal(code, 1);
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    assert.deepEqual(messages.slice(-2), [
      'the last counts could not be written down and are lost',
      'stopped',
    ]);
  });

  test('a stop leaves the backlog of the feed to the next start, and loses nothing', async (t) => {
    const env = await onPostgres(t);
    const backlog = 100_000;
    const operator = new Client({ connectionString: env['DATABASE_URL'] });
    // The database is dropped under it if the test fails.
    operator.on('error', () => undefined);
    await operator.connect();
    await operator.query(`INSERT INTO event_queue (account_id, environment, type, at, data)
      SELECT 0, '', 'pet.created', extract(epoch FROM now()) * 1000, '{}' FROM generate_series(1, ${backlog})`);
    const count = async (table: string) =>
      Number((await operator.query<{ count: string }>(`SELECT count(*) FROM ${table}`)).rows[0]?.count);
    let placed = 0;
    for (let starts = 0; starts < 2; starts++) {
      const service = await startServiceProcess(t, env);
      while ((await count(`(SELECT FROM events OFFSET ${placed} LIMIT 1) AS more`)) === 0);
      service.child.kill('SIGTERM');
      const { code, stdout, stderr } = await service.ended;
      assert.deepEqual([code, stderr], [0, '']);
      assert.doesNotMatch(stdout, /lost|could not|failed/);
      const left = await count('event_queue');
      assert.ok(left > 0, 'the stop waited for the backlog');
      placed = await count('events');
      assert.equal(placed + left, backlog);
    }
    await operator.end();
  });

  test('a stop leaves an attempt at a webhook that hangs, and the next start repeats it', async (t) => {
    const env = { ...temporaryEnvironment(t), WEBHOOKS_ALLOW_PRIVATE: 'true' };
    const { key } = await issueKey(env, { scopes: SCOPES });
    const service = await startServiceProcess(t, env);
    const { promise: hangs } = Promise.withResolvers<Reply>();
    const endpoint = await startEndpoint(t, (_, index) => (index === 0 ? hangs : 204));
    const body = JSON.stringify({ url: endpoint.url, types: ['pet.*'] });
    assert.equal((await call(service.url, '/v1/webhooks', { key, body })).status, 201);
    await call(service.url, '/v1/pets', { key, body: REX });
    while (endpoint.received.length === 0) await call(service.url, '/healthz');
    service.child.kill('SIGTERM');
    const { code, stdout, stderr } = await service.ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.doesNotMatch(stdout, /lost|could not|failed/);
    const again = await startServiceProcess(t, env);
    while (endpoint.received.length === 1) await call(again.url, '/healthz');
    const [first, second] = endpoint.received;
    assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
  });

  test('a log that nobody reads does not delay the stop', async (t) => {
    const env = temporaryEnvironment(t);
    const service = await startServiceProcess(t, env);
    service.child.stdout?.pause();
    // More than a pipe holds: what is left waits in the service.
    const client = keepAliveClient(service.url, '', 16);
    const id = { 'x-request-id': 'x'.repeat(128) };
    await each(Array.from({ length: 8_000 }).fill('/') as string[], 16, async (path) => {
      await client.send(path, undefined, id);
    });
    client.close();
    service.child.kill('SIGTERM');
    const [code] = (await once(service.child, 'exit')) as [number | null];
    assert.equal(code, 0);
  });

  test('a request that is incomplete when the service stops gets 503', async (t) => {
    const env = temporaryEnvironment(t);
    const { key } = await issueKey(env, { plan: 'free' });
    const service = await startServiceProcess(t, env);
    const { socket, answer } = await beginCreate(service.url, key, 99);
    service.child.kill('SIGTERM');
    await once(socket, 'close');
    assert.match(
      answer(),
      /HTTP\/1\.1 503 Service Unavailable\r\n[^]*X-RateLimit-Limit: 60[^]*"unavailable"/,
    );
    assert.equal((await service.ended).code, 0);
  });
});
