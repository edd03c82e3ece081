// Pipelined requests, in any fragments, to readers of any speed. Contract: section 4.3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { env } from 'node:process';
import { test, type TestContext } from 'node:test';
import { double, infiniteStream, sample } from 'fast-check';
import { call } from '../support/api.ts';
import { run, startServiceProcess, temporaryEnvironment } from '../support/process.ts';
import { ResponseReader } from '../support/responses.ts';
import { rounds } from '../support/rounds.ts';
import { startTestService } from '../support/service.ts';

interface Request {
  readonly method: string;
  readonly bytes: string;
  readonly status: number;
}

/** The kinds of request, by what is sent and what is expected. `id` goes into each answer. */
function kindsOfRequest(key: string): readonly ((id: string) => Request)[] {
  const make =
    (method: string, path: string, status: number, fields = '', body = '') =>
    (id: string): Request => {
      const caller = status === 401 ? '' : `Authorization: Bearer ${key}\r\n`;
      const bytes = `${method} ${path} HTTP/1.1\r\nHost: a.example\r\nX-Request-Id: ${id}\r\n${caller}${fields}\r\n${body}`;
      return { method, bytes, status };
    };
  const json = 'Content-Type: application/json\r\n';
  const rex = '{"name":"Rex","categoryId":7}';
  const withLength = `${json}Content-Length: ${rex.length}\r\n`;
  const chunks = `9\r\n${rex.slice(0, 9)}\r\n14\r\n${rex.slice(9)}\r\n0\r\n\r\n`;
  return [
    make('GET', '/v1/pets?limit=3', 200),
    make('GET', '/v1/pets?limit=100', 200),
    make('GET', '/v1/pets/1', 200),
    make('HEAD', '/v1/pets', 200),
    make('GET', '/v1/pets/999999', 404),
    make('GET', '/v1/none', 404),
    make('GET', '/v1/pets?limit=0', 400),
    make('OPTIONS', '/v1/pets', 204),
    make('DELETE', '/v1/pets', 405),
    make('GET', '/healthz', 200),
    make('POST', '/v1/pets', 201, withLength, rex),
    make('POST', '/v1/pets', 201, `${json}Transfer-Encoding: chunked\r\n`, chunks),
    make('POST', '/v1/pets', 400, `${json}Content-Length: 2\r\n`, '{}'),
    make('POST', '/v1/pets', 415, 'Content-Length: 5\r\n', 'hello'),
    make('GET', '/v1/pets?limit=1', 200, 'Connection: upgrade\r\nUpgrade: h2c\r\n'),
    make('POST', '/v1/pets', 201, `Connection: upgrade\r\nUpgrade: h2c\r\n${withLength}`, rex),
  ];
}

/** Ways to cut what is sent into pieces, each by a random number from 0 to 1. */
const FRAGMENTS: Readonly<Record<string, (random: () => number) => number>> = {
  'all at once': () => Number.POSITIVE_INFINITY,
  'in pieces of 64 KiB': () => 65_536,
  'in packets': () => 1_460,
  'in random pieces': (random) => 1 + Math.floor(random() * 5_000),
  'in small pieces': (random) => 1 + Math.floor(random() * 40),
  'in bytes': () => 1,
};

/** How a client takes its answers. */
const READERS = {
  fast: async () => undefined,
  'in pauses': async (socket: Socket) => {
    socket.on('data', () => {
      socket.pause();
      setImmediate(() => socket.resume());
    });
  },
  'only once all is sent': async (socket: Socket, sent: Promise<unknown>) => {
    socket.pause();
    await Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 200))]);
    socket.resume();
  },
} as const;

const CONNECTIONS = 36;

/** A connection that sends single bytes sends fewer requests. One byte in a packet takes as long as a request. */
const BYTEWISE_SHARE = 0.1;

const ALL_REQUESTS = rounds(100_000);
const REQUESTS = Math.ceil(ALL_REQUESTS / ((CONNECTIONS * (5 + BYTEWISE_SHARE)) / 6));

test('thousands of pipelined requests get their answers, each its own and in order', async (t) => {
  const service = await startTestService(t, { env: { LOG_LEVEL: 'warn' } });
  const key = await service.issueKey();
  const kinds = kindsOfRequest(key);
  await call(service.url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":7}' });
  // SEED runs the test again as it failed.
  const seed = Number(env.SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const numbers = sample(infiniteStream(double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), {
    seed,
    numRuns: 1,
  })[0];
  const random = () => numbers?.next().value as number;
  const ways = Object.values(FRAGMENTS).flatMap((fragment) =>
    Object.values(READERS).flatMap((read) =>
      (['stays', 'ends', 'aborts'] as const).map((end) => ({ fragment, read, end })),
    ),
  );
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, connection) => {
      const way = ways[Math.floor((connection * ways.length) / CONNECTIONS + random() * 1.5)] ?? ways[0];
      assert.ok(way);
      const count = way.fragment === FRAGMENTS['in bytes'] ? Math.ceil(REQUESTS * BYTEWISE_SHARE) : REQUESTS;
      const asked = Array.from({ length: count }, (__, i) => {
        const kind = kinds[Math.floor(random() * kinds.length)] ?? kinds[0];
        assert.ok(kind);
        return kind(`${connection}-${i}`);
      });
      await converse(service.url, asked, way, random, connection);
    }),
  );
  assert.ok(
    service.log.every(({ level }) => Number(level) < 50),
    'nothing went wrong inside',
  );
});

async function converse(
  url: string,
  asked: readonly Request[],
  {
    fragment,
    read,
    end,
  }: {
    fragment: (random: () => number) => number;
    read: (typeof READERS)[keyof typeof READERS];
    end: 'stays' | 'ends' | 'aborts';
  },
  random: () => number,
  connection: number,
): Promise<void> {
  const reader = new ResponseReader(asked.map(({ method }) => method));
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay();
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  const all = Promise.withResolvers<void>();
  const stopAt = end === 'aborts' ? Math.floor(random() * asked.length) : asked.length;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    if (reader.responses.length >= stopAt) all.resolve();
  });
  const sending = send(socket, asked.map(({ bytes }) => bytes).join(''), () => fragment(random));
  const reading = read(socket, sending);
  if (end === 'ends') void sending.then(() => socket.end());
  await Promise.race([all.promise, closed]);
  socket.destroy();
  await Promise.all([closed, sending, reading]);
  const { responses } = reader;
  if (end === 'aborts') assert.ok(responses.length >= stopAt);
  else assert.equal(responses.length, asked.length);
  for (const [i, { id, status }] of responses.entries()) {
    assert.equal(id, `${connection}-${i}`);
    assert.equal(status, asked[i]?.status);
  }
}

/** Sends the text in pieces, no faster than they are taken. */
async function send(socket: Socket, text: string, size: () => number): Promise<void> {
  for (let start = 0; start < text.length && !socket.destroyed; ) {
    const end = Math.min(text.length, start + size());
    const isTaken = socket.write(text.slice(start, end), 'latin1');
    start = end;
    if (!isTaken) {
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    }
  }
}

test('clients that pipeline and read nothing use little memory and are closed', async (t: TestContext) => {
  const environment = {
    ...temporaryEnvironment(t),
    LOG_LEVEL: 'info',
    NODE_OPTIONS: '--max-old-space-size=64',
  };
  assert.equal((await run(['migrate'], environment)).code, 0);
  const service = await startServiceProcess(t, environment);
  const requests = 'GET /v1 HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(20_000);
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1').pause();
      socket.on('error', () => undefined);
      while (!socket.destroyed) await send(socket, requests, () => 65_536);
    }),
  );
  assert.equal((await call(service.url, '/healthz')).status, 200);
});
