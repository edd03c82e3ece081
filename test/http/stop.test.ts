// What clients get when the service stops. Contract: section 4.3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
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
