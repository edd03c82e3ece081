// What clients get when the service stops. Contract: section 4.3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { test } from 'node:test';
import { assertError, assertRateHeaders, parseRaw } from '../support/api.ts';
import { startTestConsole } from '../support/console.ts';
import { startTestService } from '../support/service.ts';

const CONNECTIONS = 10;

test('every pipelined request that a stopping service executes gets its answer', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const body = '{"name":"Rex","categoryId":7}';
  const create = `POST /v1/pets HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  let answers = 0;
  const clients = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('data', (chunk: Buffer) => {
      answers += chunk.toString('latin1').match(/HTTP\/1\.1 /g)?.length ?? 0;
    });
    socket.write(create.repeat(200));
    return socket;
  });
  const closed = clients.map((socket) => once(socket, 'close'));
  await Promise.race(clients.map((socket) => once(socket, 'data')));
  await service.stop();
  await Promise.all(closed);
  assert.equal(answers, service.log.filter(({ status }) => status !== undefined).length);
});

test('a service that stops finishes what it has accepted, refuses the rest, and closes each connection', async (t) => {
  const service = await startTestConsole(t);
  const [key, token] = [await service.issueKey(), await service.makeToken('ada')];
  const body = '{"name":"Rex","categoryId":7}';
  const open = (base: string, target: string, headers = '', content = '') => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    const { host, origin } = new URL(base);
    const length =
      content === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n`;
    const bytes = `${target} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\n${headers}${length}\r\n${content}`;
    // The last byte comes while the service stops, because it takes no connections then.
    socket.write(bytes.slice(0, -1));
    const finish = async () => {
      socket.write(bytes.slice(-1));
      const answer = parseRaw((await textOf(socket)).replace('HTTP/1.1 100 Continue\r\n\r\n', ''));
      assert.equal(answer.headers.get('connection'), 'close', target);
      return answer;
    };
    return { socket, connected: once(socket, 'connect'), finish };
  };
  const bearer = (secret: string) => `Authorization: Bearer ${secret}\r\n`;
  const { url, listener } = service;
  const accepted = open(url, 'POST /v1/pets', `${bearer(key)}Expect: 100-continue\r\n`, body);
  const later = {
    list: open(url, 'GET /v1/pets', bearer(key)),
    create: open(url, 'POST /v1/pets', bearer(key), body),
    nobody: open(url, 'GET /v1/pets'),
    preflight: open(url, 'OPTIONS /v1/pets'),
    health: open(url, 'GET /healthz'),
    readiness: open(url, 'GET /readyz'),
    operator: open(listener, 'GET /admin/v1/me', bearer(token)),
    signIn: open(listener, 'POST /sign-in', '', '{"link":"x"}'),
  };
  await once(accepted.socket, 'readable');
  await Promise.all(Object.values(later).map(({ connected }) => connected));
  const stopped = service.stop();
  for (const refused of [later.list, later.create]) {
    const answer = await refused.finish();
    assertError(answer, 'unavailable');
    assertRateHeaders(answer);
    assert.equal(answer.headers.get('x-ratelimit-limit'), '1000000000');
  }
  for (const refused of [later.readiness, later.operator, later.signIn]) {
    const answer = await refused.finish();
    assertError(answer, 'unavailable');
    assert.equal(answer.headers.get('retry-after'), '5');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
  assertError(await later.nobody.finish(), 'unauthorized');
  assert.equal((await later.preflight.finish()).status, 204);
  assert.equal((await later.health.finish()).status, 200);
  assert.equal((await accepted.finish()).status, 201);
  await stopped;
});
