// The proxies of deploy/ that hold the certificate of one machine. Contract: sections 6 and 7.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { freePort, listening, program, runServer, serverFolder } from '../support/servers.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { TEMPORARY } from '../support/temporary.ts';
import { test } from '../support/test.ts';
import { read } from './files.ts';

/** A proxy on a free port, as `write` rewrites its file: with the ports and the certificate of this test. */
interface Proxy {
  readonly name: string;
  write(files: { folder: string; certificate: string; key: string; port: number; service: number }): string[];
}

const CADDY: Proxy = {
  name: 'Caddy',
  write({ folder, certificate, key, port, service }) {
    const site = read('deploy/Caddyfile')
      .replace('pets.example {', `https://pets.example:${port} {\n\ttls ${certificate} ${key}`)
      .replace('reverse_proxy 127.0.0.1:8080 {', `reverse_proxy 127.0.0.1:${service} {`)
      // A test does not wait for 5 s.
      .replace('lb_try_duration 5s', 'lb_try_duration 2s');
    const options = `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n`;
    writeFileSync(join(folder, 'Caddyfile'), options + site);
    return [program('caddy', 'caddy'), 'run', '--config', join(folder, 'Caddyfile')];
  },
};

const NGINX: Proxy = {
  name: 'nginx',
  write({ folder, certificate, key, port, service }) {
    const file = read('deploy/nginx-tls.conf')
      .replace(/^user .*$/m, process.getuid?.() === 0 ? 'user root;' : '')
      .replace(/ +listen (?:\[::\]:)?80;\n/g, '')
      .replace('location /.well-known', `listen unix:${folder}/plain;\n    location /.well-known`)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace(/ +listen \[::\]:443 ssl;\n/, '')
      .replace(/(ssl_certificate) .*;/, `$1 ${certificate};`)
      .replace(/(ssl_certificate_key) .*;/, `$1 ${key};`)
      .replace('server 127.0.0.1:8080', `server 127.0.0.1:${service}`);
    writeFileSync(join(folder, 'nginx.conf'), file);
    const nginx = program('nginx', 'nginx', { folders: ['/usr/sbin'] });
    const settings = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;`;
    mkdirSync(join(folder, 'logs'));
    return [nginx, '-p', folder, '-c', join(folder, 'nginx.conf'), '-g', settings];
  },
};

interface Response {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Site {
  /** Of the proxy. */
  readonly folder: string;
  readonly service: TestService;
  /** Sends a GET for `path` to the proxy over TLS, from a loopback address. */
  readonly get: (path: string, from?: string, headers?: Record<string, string>) => Promise<Response>;
}

/** A service behind a proxy that has a certificate for pets.example. */
async function startSite(t: TestContext, proxy: Proxy): Promise<Site> {
  const folder = serverFolder('proxy', TEMPORARY);
  const certificate = join(folder, 'tls.crt');
  const key = join(folder, 'tls.key');
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=pets.example', '-addext', 'subjectAltName=DNS:pets.example'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync(program('openssl', 'openssl'), ['req', '-x509', ...kind, ...subject, ...files], {
    stdio: 'pipe',
  });
  const service = await startTestService(t, { env: { TRUST_PROXY: '127.0.0.1' } });
  const port = await freePort();
  const [command = '', ...args] = proxy.write({
    folder,
    certificate,
    key,
    port,
    service: Number(new URL(service.url).port),
  });
  const url = `https://pets.example:${port}`;
  const server = await runServer({ port, url, folder, command, args, ready: () => listening(port) });
  t.after(() => server.stop());
  const ca = readFileSync(certificate);
  return {
    folder,
    service,
    async get(path, from = '127.0.0.1', headers = {}) {
      const sent = request({
        host: '127.0.0.1',
        port,
        path,
        ca,
        servername: 'pets.example',
        headers: { host: `pets.example:${port}`, ...headers },
        localAddress: from,
        agent: false,
      });
      sent.end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: response.statusCode, headers: response.headers, body: await text(response) };
    },
  };
}

for (const proxy of [CADDY, NGINX]) {
  test(`behind ${proxy.name}, a client has its own address, and cannot claim another one`, async (t) => {
    const { get } = await startSite(t, proxy);
    const remaining = async (from: string, claim: string) => {
      const { status, headers } = await get('/v1/pets', from, { 'x-forwarded-for': claim });
      assert.equal(status, 401);
      assert.match(String(headers['strict-transport-security']), /^max-age=\d+$/);
      return Number(headers['x-ratelimit-remaining']);
    };
    const first = await remaining('127.0.0.2', '192.0.2.1');
    assert.equal(await remaining('127.0.0.2', '192.0.2.2'), first - 1);
    assert.equal(await remaining('127.0.0.3', '192.0.2.1'), first);
  });

  test(`${proxy.name} refuses like the service while the service is down`, async (t) => {
    const { service, get } = await startSite(t, proxy);
    await service.stop();
    const { status, headers, body } = await get('/v1/pets');
    assert.equal(status, 503);
    assert.equal(headers['retry-after'], '1');
    assert.equal(headers['content-type'], 'application/json');
    const { code, status: inBody } = JSON.parse(body) as Record<string, unknown>;
    assert.deepEqual([code, inBody], ['unavailable', 503]);
  });
}

test('behind Caddy, a request waits while the service restarts', async (t) => {
  const { service, get } = await startSite(t, CADDY);
  await service.stop();
  const response = get('/readyz');
  // Caddy answers this one itself, later than it got the first.
  await get('/', '127.0.0.1', { host: 'other.example' });
  await startTestService(t, { env: { PORT: new URL(service.url).port } });
  assert.equal((await response).status, 200);
});

test('nginx sends clients without TLS to the address with TLS, except for renewals of the certificate', async (t) => {
  const { folder } = await startSite(t, NGINX);
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
