// What a connection may have in flight, and how it ends.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import type { Server } from '../src/server.ts';
import { NO_FIELDS, octets } from '../src/text.ts';
import { NodeResponse, type ResponseWriter } from '../src/response.ts';
import { onRequest } from './support.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\n';

/** More answers than the kernel holds for a connection. */
const MANY = 200;
const LARGE = octets('x'.repeat(100_000));

interface Peer {
  readonly server: Server;
  readonly client: Socket;
  /** The server's side of the connection. */
  readonly socket: Socket;
  readonly received: () => string;
}

/** A server with one client, which reads. */
async function peer(
  t: TestContext,
  handle: (request: IncomingMessage, response: ResponseWriter) => void,
): Promise<Peer> {
  const server: Server = createServer({ IncomingMessage, ServerResponse: NodeResponse });
  onRequest(server, handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  t.after(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
  let text = '';
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  client.on('error', () => undefined);
  return { server, client, socket, received: () => text };
}

function answersIn(text: string): number {
  return text.match(/HTTP\/1\.1 200 OK/g)?.length ?? 0;
}

test('one request of a connection is handled at a time', async (t) => {
  const waiting: ResponseWriter[] = [];
  const { client, received } = await peer(t, (_, response) => void waiting.push(response));
  client.write(GET.repeat(MANY));
  let most = 0;
  for (let answered = 0; answered < MANY; ) {
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    most = Math.max(most, waiting.length);
    const response = waiting.shift();
    if (response === undefined) continue;
    response.send(200, NO_FIELDS, octets('hi'));
    answered++;
  }
  assert.equal(most, 1);
  while (answersIn(received()) < MANY) await once(client, 'data');
});

test('the body of a pipelined request is read when its turn has come', async (t) => {
  const bodies: string[] = [];
  const { client, received } = await peer(t, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      bodies.push(body);
      response.send(200, NO_FIELDS, octets('hi'));
    });
  });
  client.write(Array.from({ length: MANY }, (_, i) => `${POST}${1_000 + i}`).join(''));
  while (answersIn(received()) < MANY) await once(client, 'data');
  assert.deepEqual(
    bodies,
    Array.from({ length: MANY }, (_, i) => `${1_000 + i}`),
  );
});

test('a request for another protocol does not lose the requests after it', async (t) => {
  const upgrade = GET.replace('Host', 'Connection: upgrade\r\nUpgrade: h2c\r\nHost');
  const { client, received } = await peer(t, (_, response) => response.send(200, NO_FIELDS, octets('hi')));
  client.write((GET + upgrade + GET).repeat(20));
  while (answersIn(received()) < 60) await once(client, 'data');
});

const UPGRADE = POST.replace('Host', 'Connection: upgrade\r\nUpgrade: h2c\r\nHost');
const CHUNKED = UPGRADE.replace('Content-Length: 4', 'Transfer-Encoding: chunked');

for (const [kind, bytes, ends] of [
  ['whose chunk has no size', `${CHUNKED}4\r\n1234\r\nno size\r\n`, false],
  ['without its last chunk', `${CHUNKED}4\r\n1234\r\n`, true],
  ['whose body is too short', `${UPGRADE}123`, true],
] as const)
  test(`a request for another protocol ${kind} is refused like any other`, async (t) => {
    const { server, client } = await peer(t, (request, response) => {
      request.on('end', () => response.send(200, NO_FIELDS, octets('hi')));
      request.on('error', () => undefined).resume();
    });
    const refused = once(server, 'clientError') as Promise<[Error, Socket]>;
    if (ends) client.end(bytes);
    else client.write(bytes);
    const [, socket] = await refused;
    socket.destroy();
    await once(client, 'close');
  });

test('a client that reads none of its answers is closed', async (t) => {
  const { client, socket } = await peer(t, (_, response) => response.send(200, NO_FIELDS, LARGE));
  client.pause();
  client.write(GET.repeat(MANY));
  await once(socket, 'close');
});

test('a client that reads its answers slowly gets all of them', async (t) => {
  const { client, received } = await peer(t, (_, response) => response.send(200, NO_FIELDS, LARGE));
  client.write(GET.repeat(MANY));
  // Longer in all than a client may take nothing: see support.ts.
  while (received().length < MANY * LARGE.length) {
    await once(client, 'data');
    client.pause();
    await wait(5);
    client.resume();
  }
  while (answersIn(received()) < MANY) await once(client, 'data');
});

test('a client that reads one large answer slowly gets all of it', async (t) => {
  const large = octets('x'.repeat(40_000_000));
  const { client, received } = await peer(t, (_, response) => response.send(200, NO_FIELDS, large));
  client.write(GET);
  // Longer than a client may take nothing. Until then, the answer must not end.
  const end = performance.now() + 1_500;
  while (performance.now() < end) {
    await once(client, 'data');
    client.pause();
    await wait(5);
    client.resume();
  }
  while (received().length < large.length) await once(client, 'data');
});

test('a client that waits long for an answer is not closed', async (t) => {
  const { client, received } = await peer(t, (_, response) => {
    setTimeout(() => response.send(200, NO_FIELDS, octets('hi')), 1_500);
  });
  client.write(GET + GET);
  while (answersIn(received()) < 2) await once(client, 'data');
});

for (const [kind, request] of Object.entries({
  'a GET': GET,
  'a POST': `${POST}1234`,
  'many GETs': GET.repeat(50),
})) {
  test(`a client that ends its side after ${kind} gets its answers, then the close`, async (t) => {
    const { client, received } = await peer(t, (message, response) => {
      message.resume();
      setTimeout(() => response.send(200, NO_FIELDS, octets('hi')), 20);
    });
    client.end(request);
    await once(client, 'end');
    assert.equal(answersIn(received()), request.length > 500 ? 50 : 1);
  });
}

test('the last answer arrives although the client keeps sending', async (t) => {
  const { client, received } = await peer(t, (_, response) => {
    response.shouldKeepAlive = false;
    response.send(200, NO_FIELDS, LARGE);
  });
  client.pause();
  client.write(GET.repeat(1_000));
  await wait(50);
  client.resume();
  await once(client, 'end');
  assert.equal(answersIn(received()), 1);
  assert.ok(received().endsWith('x'.repeat(1_000)));
  assert.ok(received().length > LARGE.length);
});
