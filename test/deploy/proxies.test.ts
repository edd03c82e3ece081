// The proxies of deploy/. Contract: sections 6, 7 and 13.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { HTTP_LIMITS } from '../../src/http/server.ts';
import { rounds } from '../support/rounds.ts';
import { program } from '../support/servers.ts';
import { startTestService } from '../support/service.ts';
import {
  CADDY,
  CONSOLE_PROXIES,
  NGINX_TLS,
  PROXIES,
  type Proxy,
  type RunningProxy,
  startProxy,
} from '../support/shipped-proxies.ts';
import { test } from '../support/test.ts';

/** A service behind a proxy. */
async function startSite(t: TestContext, proxy: Proxy, change?: (file: string) => string) {
  const service = await startTestService(t, { env: { TRUST_PROXY: '127.0.0.1' } });
  const site = await startProxy(t, proxy, [Number(new URL(service.url).port)], change);
  return { service, ...site };
}

for (const proxy of PROXIES) {
  test(`behind ${proxy.name}, a client has its own address, and cannot claim another one`, async (t) => {
    const { send } = await startSite(t, proxy);
    const remaining = async (from: string, claim: string) => {
      const { status, headers } = await send('/v1/pets', { from, headers: { 'x-forwarded-for': claim } });
      assert.equal(status, 401);
      if (proxy.hasTls) assert.match(String(headers['strict-transport-security']), /^max-age=\d+$/);
      return Number(headers['x-ratelimit-remaining']);
    };
    const first = await remaining('127.0.0.2', '192.0.2.1');
    assert.equal(await remaining('127.0.0.2', '192.0.2.2'), first - 1);
    assert.equal(await remaining('127.0.0.3', '192.0.2.1'), first);
  });

  test(`${proxy.name} refuses like the service while the service is down`, async (t) => {
    const { service, send } = await startSite(t, proxy);
    await service.stop();
    const { status, headers, body } = await send('/v1/pets');
    assert.equal(status, 503);
    assert.equal(headers['retry-after'], '1');
    assert.equal(headers['content-type'], 'application/json');
    const { code, status: inBody } = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual([code, inBody], ['unavailable', 503]);
  });
}

test('behind Caddy, a request waits while the service restarts', async (t) => {
  const { service, send } = await startSite(t, CADDY);
  await service.stop();
  const response = send('/readyz');
  // Caddy answers this one itself, later than it got the first.
  await send('/', { headers: { host: 'other.example' } });
  await startTestService(t, { env: { PORT: new URL(service.url).port } });
  assert.equal((await response).status, 200);
});

test('nginx sends clients without TLS to the address with TLS, except for renewals of the certificate', async (t) => {
  const { folder } = await startSite(t, NGINX_TLS);
  const ask = (path: string) =>
    execFileSync(
      program('curl', 'curl'),
      ['-si', '--unix-socket', join(folder, 'plain'), `http://pets.example${path}`],
      {
        encoding: 'utf8',
      },
    );
  assert.match(
    ask('/v1/pets?limit=2'),
    /^HTTP\/1\.1 301 [^]*\r\nLocation: https:\/\/pets\.example\/v1\/pets\?limit=2\r\n/,
  );
  assert.match(ask('/.well-known/acme-challenge/x'), /^HTTP\/1\.1 404 /);
});

/** Seconds that followers wait. In `npm test`, they wait a tenth of the longest time, and so do the proxies. */
const WAIT = rounds(30, 3);

/** The file of a proxy with its times for an answer as much shorter as the waits of this run. */
function shorten(file: string): string {
  return file.replace(
    /((?:proxy_read_timeout|proxy_send_timeout|read_timeout|response_header_timeout) )(\d+)s/g,
    (_, name: string, seconds: string) => `${name}${(Number(seconds) * 1_000 * WAIT) / 30}ms`,
  );
}

/** Polls the feed of idle accounts, and returns the statuses of the answers that are not empty pages. */
async function poll({ send }: RunningProxy, key: string, times: number): Promise<readonly unknown[]> {
  const headers = { authorization: `Bearer ${key}` };
  const begin = await send('/v1/events?after=now', { headers });
  const after = /[?&]after=([^&>]+)/.exec(String(begin.headers.link))?.[1];
  const odd: unknown[] = [];
  for (let count = 0; count < times; count++) {
    const { status, body } = await send(`/v1/events?wait=${WAIT}&after=${after}`, { headers });
    if (status !== 200 || body !== '[]') odd.push(status);
  }
  return odd;
}

for (const proxy of PROXIES)
  test(`${proxy.name} lets followers wait as long as the service does`, async (t) => {
    const { service, ...site } = await startSite(t, proxy, shorten);
    // An account has ten waits.
    const accounts = Array.from({ length: rounds(10, 2) }, (_, index) => `shelter ${index}`);
    const keys = await Promise.all(accounts.map((account) => service.issueKey({ account })));
    const followers = keys.flatMap((key) => Array.from({ length: 10 }, () => poll(site, key, rounds(18, 2))));
    assert.deepEqual((await Promise.all(followers)).flat(), []);
  });

for (const proxy of PROXIES)
  test(`${proxy.name} leaves it to the service to refuse what is too large`, async (t) => {
    const { service, send } = await startSite(t, proxy);
    const headers = {
      authorization: `Bearer ${await service.issueKey()}`,
      'content-type': 'application/json',
    };
    const padding = 'a'.repeat(HTTP_LIMITS.maxHeaderSize);
    const refused = [
      await send('/v1/pets', { headers: { ...headers, padding } }),
      await send(`/v1/pets?padding=${padding}`, { headers }),
      await send('/v1/pets', { method: 'POST', headers, body: 'a'.repeat(2_000_000) }),
    ];
    assert.deepEqual(
      refused.map(({ status, body }) => [status, JSON.parse(body).code]),
      [
        [431, 'invalid_request'],
        [431, 'invalid_request'],
        [413, 'payload_too_large'],
      ],
    );
    for (const response of refused) assert.ok(response.headers['x-ratelimit-limit'] !== undefined);
  });

for (const proxy of PROXIES)
  test(`${proxy.name} passes on an answer with a header block as long as one of a request`, async (t) => {
    const link = `<https://pets.example/${'a'.repeat(HTTP_LIMITS.maxHeaderSize - 1_000)}>; rel="next"`;
    const server = createServer((_, response) => void response.setHeader('Link', link).end());
    const { send } = await startProxy(t, proxy, [await listen(t, server)]);
    assert.equal((await send('/')).headers.link, link);
  });

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A service that dies of each request to a path of its own: it reads it, and closes the connection without an answer. */
async function startMortal(t: TestContext, seen: string[], answer?: number): Promise<number> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      // A single sign-on lets everybody in.
      if (request.url === '/alive' || request.url === '/oauth2/auth') {
        response.end();
        return;
      }
      seen.push(`${request.method} ${request.url}`);
      if (answer === undefined) request.socket.destroy();
      else response.writeHead(answer).end();
    });
  });
  return await listen(t, server);
}

for (const proxy of [...PROXIES, ...CONSOLE_PROXIES])
  for (const answer of [undefined, 503])
    test(`${proxy.name} repeats only GET and HEAD ${answer === undefined ? 'when a service dies of a request' : 'after a 503'}`, async (t) => {
      const seen: string[] = [];
      const services = [await startMortal(t, seen, answer), await startMortal(t, seen, answer)];
      const { send } = await startProxy(t, proxy, services);
      // A proxy repeats more on a connection that it has used before.
      const warm = () => Promise.all(Array.from({ length: 8 }, () => send('/alive')));
      const sent: string[] = [];
      for (const method of ['DELETE', 'PUT', 'POST', 'PATCH'])
        for (const header of [
          'X-Other',
          'X-Idempotency-Key',
          ...(method === 'POST' ? [] : ['Idempotency-Key']),
        ])
          for (const body of ['', '{}']) {
            await warm();
            const path = `/${header}/${body.length}`;
            sent.push(`${method} ${path}`);
            const { status } = await send(path, { method, headers: { [header]: 'a' }, body });
            assert.match(String(status), /^50[23]$/);
          }
      assert.deepEqual(seen, sent);
      await warm();
      await send('/read');
      if (proxy.passesOn && answer === undefined)
        assert.deepEqual(seen.slice(sent.length), ['GET /read', 'GET /read']);
    });
