// Clients that take their time, many at once. Contract: sections 4 and 4.3. `npm run torture`: 5,000 in each stage, with the
// times of production.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { HTTP_LIMITS } from '../../src/http/server.ts';
import { assertError, assertRateHeaders, call, parseRaw } from '../support/api.ts';
import { isTorture } from '../support/rounds.ts';
import { startTestService } from '../support/service.ts';

const [CONNECTIONS, UNREAD] = isTorture ? [5_000, 500] : [100, 100];

const LIMITS = isTorture
  ? HTTP_LIMITS
  : {
      ...HTTP_LIMITS,
      headersTimeout: 500,
      requestTimeout: 1_000,
      keepAliveTimeout: 700,
      sendTimeout: 500,
      lingerTimeout: 200,
      checkingInterval: 50,
    };

/** Milliseconds between two bytes of a client: it is slow, not silent. */
const PACE = LIMITS.headersTimeout / 10;

/** Milliseconds that a busy machine may be late. */
const LATE = 5_000;

interface Stage {
  /** What a client with a key sends at once, and then byte by byte. */
  readonly begins: (key: string) => string;
  readonly continues: string;
  /** The answer, where there is one: it is too slow. */
  readonly isRefused: boolean;
  /** Its answers wait in memory of the system, some MB for each connection. */
  readonly readsNothing?: boolean;
  /** Milliseconds until it is closed. */
  readonly time: number;
}

const header = (key: string) => `Host: a\r\nAuthorization: Bearer ${key}\r\n`;

const STAGES: Readonly<Record<string, Stage>> = {
  'before the request line': {
    begins: () => '',
    continues: '',
    isRefused: true,
    time: LIMITS.headersTimeout,
  },
  'in the header block': {
    begins: (key) => `GET /v1/pets HTTP/1.1\r\n${header(key)}X-Slow: `,
    continues: 'a',
    isRefused: true,
    time: LIMITS.headersTimeout,
  },
  'in the body': {
    begins: (key) =>
      `POST /v1/pets HTTP/1.1\r\n${header(key)}Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n{"name":"`,
    continues: 'a',
    isRefused: true,
    time: LIMITS.requestTimeout,
  },
  'in its answers': {
    begins: (key) => `GET /v1/pets?limit=100 HTTP/1.1\r\n${header(key)}\r\n`.repeat(500),
    continues: '\r\n',
    isRefused: false,
    readsNothing: true,
    time: LIMITS.sendTimeout,
  },
  'after its answer': {
    begins: (key) => `GET /v1/pets HTTP/1.1\r\n${header(key)}\r\n`,
    continues: '',
    isRefused: false,
    time: LIMITS.keepAliveTimeout,
  },
  // They begin no request, but a client that sends them is not idle.
  'in empty lines after its answer': {
    begins: (key) => `GET /v1/pets HTTP/1.1\r\n${header(key)}\r\n`,
    continues: '\r\n',
    isRefused: false,
    time: LIMITS.requestTimeout,
  },
};

for (const [stage, { begins, continues, isRefused, readsNothing = false, time }] of Object.entries(STAGES)) {
  const count = readsNothing ? UNREAD : CONNECTIONS;
  test(`${count} connections that are slow ${stage} are closed in time, and others are answered`, async (t) => {
    const env = { MAX_CONNECTIONS_PER_ADDRESS: '1000000' };
    const service = await startTestService(t, { env, limits: LIMITS });
    const { url } = service;
    const [key, other] = [await service.issueKey(), await service.issueKey({ account: 'other' })];
    if (readsNothing) {
      const body = JSON.stringify({ name: 'Rex', categoryId: 1, description: 'a'.repeat(2_000) });
      const animals = Array.from({ length: 100 }, () => call(url, '/v1/pets', { key: other, body }));
      for (const { status } of await Promise.all(animals)) assert.equal(status, 201);
    }
    const { hostname: host, port } = new URL(url);
    const sockets = new Map<Socket, string>();
    const times: number[] = [];
    const closed: Promise<unknown>[] = [];
    const pace = setInterval(() => {
      for (const socket of sockets.keys()) if (continues !== '' && socket.writable) socket.write(continues);
    }, PACE);
    t.after(() => {
      clearInterval(pace);
      for (const socket of sockets.keys()) socket.destroy();
    });
    for (let opened = 0; opened < count; opened++) {
      const socket = connect(Number(port), host);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      const begin = performance.now();
      sockets.set(socket, '');
      if (!readsNothing)
        socket.on(
          'data',
          (bytes) => void sockets.set(socket, sockets.get(socket) + bytes.toString('latin1')),
        );
      closed.push(
        new Promise((resolve) => socket.once('close', resolve)).then(
          () => void times.push(performance.now() - begin),
        ),
      );
      socket.write(begins(key));
    }
    assert.equal((await call(url, '/v1/pets', { key: other })).status, 200);
    await Promise.all(closed);
    for (const text of sockets.values()) {
      if (!isRefused) continue;
      const answer = parseRaw(text);
      assertError(answer, 'invalid_request', 408);
      assertRateHeaders(answer);
    }
    const added = (await call(url, '/v1/pets', { key: other })).json as readonly unknown[];
    assert.equal(added.length > 0, readsNothing);
    const [least, most] = [Math.min(...times), Math.max(...times)];
    t.diagnostic(`closed after ${Math.round(least)} to ${Math.round(most)} ms; promised: ${time} ms`);
    // The time to take nothing begins only when the memory of the system is full.
    if (isTorture && !readsNothing)
      assert.ok(most < time + LIMITS.lingerTimeout + 2 * LIMITS.checkingInterval + LATE);
  });
}
