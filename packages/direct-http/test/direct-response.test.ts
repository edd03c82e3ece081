import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Server } from '../src/server.ts';
import { NO_FIELDS, octets } from '../src/text.ts';
import { NodeResponse } from '../src/response.ts';
import { onRequest, PATIENT, raw } from './support.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

type Handle = Parameters<typeof onRequest>[1];

/** Milliseconds after which an idle connection is closed. */
const IDLE = 200;

async function listen(
  t: TestContext,
  handle: Handle,
): Promise<{ server: Server; url: string; port: number }> {
  const server: Server = createServer({
    IncomingMessage,
    ServerResponse: NodeResponse,
    optimizeEmptyRequests: true,
    keepAliveTimeout: IDLE - 1,
    keepAliveTimeoutBuffer: 1,
  });
  onRequest(server, handle, PATIENT);
  server.listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}`, port };
}

const HOST = 'Host: a.example\r\n';
const GET = `GET / HTTP/1.1\r\n${HOST}\r\n`;
const POST = `POST / HTTP/1.1\r\n${HOST}Content-Length: 4\r\n\r\n`;

/** Of which the first is answered straight, the second by Node's own response. */
const KINDS = { 'a usual request': GET, 'an unusual one': GET.replace('GET', 'HEAD') };

// Node dates its own responses, by a clock that a test cannot set.
test('a direct response has the Date of its own second', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_999 });
  const { url } = await listen(t, (_, response) => {
    response.send(200, NO_FIELDS, octets('hi'));
    t.mock.timers.tick(1);
  });
  const dates = (await raw(url, GET + GET)).match(/(?<=^Date: ).*(?=\r$)/gm);
  assert.deepEqual(dates, ['Tue, 14 Nov 2023 22:13:20 GMT', 'Tue, 14 Nov 2023 22:13:21 GMT']);
});

for (const [kind, request] of Object.entries(KINDS)) {
  test(`a connection that is idle after ${kind} is closed in time`, async (t) => {
    const { url } = await listen(t, (_, response) => response.send(200, NO_FIELDS, octets('hi')));
    // Resolves when the server closes.
    assert.match(await raw(url, request), /^HTTP\/1\.1 200 OK\r\n/);
  });

  test(`a connection that waits for the answer to ${kind} is not idle`, async (t) => {
    let requests = 0;
    const { url } = await listen(t, (_, response) => {
      requests++;
      // The first answer has the connection closed when it is idle, from then on.
      const time = requests === 1 ? Promise.resolve() : wait(2 * IDLE);
      void time.then(() => {
        response.send(200, NO_FIELDS, octets('hi'));
        if (requests === 1) socket.write(request);
      });
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(GET));
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    await once(socket, 'close');
    assert.equal(received.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  });
}

test('the service stops reading from a client that reads no answers, and loses none', async (t) => {
  const COUNT = 2_000;
  const body = octets('x'.repeat(100_000));
  let handled = 0;
  const all = Promise.withResolvers<'all were handled'>();
  const { server, port } = await listen(t, (_, response) => {
    response.send(200, NO_FIELDS, body);
    if (++handled === COUNT) all.resolve('all were handled');
  });
  const client = connect(port, '127.0.0.1').pause();
  const [socket] = (await once(server, 'connection')) as [Socket];
  const paused = once(socket, 'pause').then(() => 'paused');
  client.write(GET.repeat(COUNT));
  assert.equal(await Promise.race([paused, all.promise]), 'paused');
  assert.ok(handled < COUNT);

  let received = 0;
  client.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  client.resume();
  await once(client, 'close');
  assert.equal(handled, COUNT);
  assert.ok(received > COUNT * body.length);
});

test('a request ends when its client leaves in the middle of the body', async (t) => {
  const ended = Promise.withResolvers<boolean>();
  const { port } = await listen(t, (request) => {
    request.resume();
    request.on('close', () => ended.resolve(request.complete));
    client.destroy();
  });
  const client = connect(port, '127.0.0.1', () => client.write(`${POST}12`));
  assert.equal(await ended.promise, false);
});

test('an answer that leaves a body unread keeps the connection usable', async (t) => {
  const { url } = await listen(t, (request, response) => {
    response.send(401, NO_FIELDS, octets(request.method ?? ''));
    request.resume();
  });
  const text = await raw(url, `${POST}1234${POST}5678${GET}`);
  assert.deepEqual(text.match(/HTTP\/1\.1 401|POST|GET/g), [
    'HTTP/1.1 401',
    'POST',
    'HTTP/1.1 401',
    'POST',
    'HTTP/1.1 401',
    'GET',
  ]);
});

test('a body that arrives in pieces over several turns is read whole', async (t) => {
  const { port } = await listen(t, (request, response) => {
    let body = '';
    request.setEncoding('latin1');
    request.on('data', (chunk: string) => {
      body += chunk;
      if (body.length === 2) client.write('34');
    });
    request.on('end', () => response.send(200, NO_FIELDS, octets(body)));
  });
  const client = connect(port, '127.0.0.1', () => client.write(`${POST}12`));
  let text = '';
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(client, 'close');
  assert.match(text, /\r\n\r\n1234$/);
});

test('an idle connection keeps no request, however it was answered', async (t) => {
  const requests: WeakRef<IncomingMessage>[] = [];
  const { port } = await listen(t, (request, response) => {
    requests.push(new WeakRef(request));
    const answer = () => response.send(200, NO_FIELDS, octets('hi'));
    // Some are answered before their body is there, as those that are refused.
    if (request.method === 'POST' && requests.length % 2 === 0) request.on('end', answer);
    else answer();
    request.resume();
  });
  for (const request of [
    GET,
    GET,
    `${POST}1234`,
    `${POST}1234`,
    POST.replace('4', '0'),
    POST.replace('4', '0'),
  ]) {
    const client = connect(port, '127.0.0.1', () => client.write(request));
    await once(client, 'data');
    await setImmediate();
  }
  collectGarbage();
  await setImmediate();
  collectGarbage();
  assert.deepEqual(
    requests.map((request) => request.deref()?.method),
    requests.map(() => undefined),
  );
});

test('RFC 9110 §10.1.1: 100-continue is met', async (t) => {
  const { url } = await listen(t, (request, response) => {
    request.on('end', () => response.send(200, NO_FIELDS, octets('hi')));
    request.resume();
  });
  const text = await raw(url, `${POST.replace(HOST, `${HOST}Expect: 100-continue\r\n`)}1234`);
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
});

test('a sent response reports it, and a destroyed one ends the connection', async (t) => {
  const wereSent: boolean[] = [];
  const { url } = await listen(t, ({ method }, response) => {
    if (method === 'POST') response.destroy();
    else {
      wereSent.push(response.headersSent);
      response.send(200, NO_FIELDS, octets('hi'));
      wereSent.push(response.headersSent);
    }
  });
  assert.equal((await raw(url, `${GET}${POST}1234`)).match(/HTTP\/1\.1 200 OK/g)?.length, 1);
  assert.deepEqual(wereSent, [false, true]);
});

// RFC 9110, section 7.8.
test('a request for another protocol is answered over HTTP/1.1', async (t) => {
  const { url } = await listen(t, (request, response) => {
    request.on('end', () => response.send(200, NO_FIELDS, octets('hi')));
    request.resume();
  });
  const upgrade = POST.replace(HOST, `${HOST}Connection: upgrade\r\nUpgrade: h2c\r\n`);
  assert.match(await raw(url, `${upgrade}1234`), /^HTTP\/1\.1 200 OK\r\n/);
});

test('an answer to a client that ended its side is not counted as its fault', async (t) => {
  const faults: Error[] = [];
  const { server, port } = await listen(t, (request, response) => {
    request.socket.on('end', () => response.send(200, NO_FIELDS, octets('hi')));
  });
  server.on('clientError', (error) => faults.push(error));
  const client = connect(port, '127.0.0.1', () => client.end(GET));
  let text = '';
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  await once(client, 'close');
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.deepEqual(faults, []);
});
