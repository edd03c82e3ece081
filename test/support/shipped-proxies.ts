import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { read } from '../deploy/files.ts';
import type { Lifetime } from './lifetime.ts';
import { freePort, listening, program, runServer, serverFolder } from './servers.ts';
import { TEMPORARY } from './temporary.ts';

interface Files {
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;
  readonly port: number;
  /** The ports of the services behind it. */
  readonly services: readonly number[];
}

/** A proxy of deploy/, with its file rewritten for a test: its ports and its certificate. */
export interface Proxy {
  readonly name: string;
  readonly file: string;
  readonly hasTls: boolean;
  /** Whether it passes a GET on to another service. */
  readonly passesOn: boolean;
  rewrite(text: string, files: Files): string;
  /** The command that runs it. */
  command(folder: string): readonly string[];
}

const USER = process.getuid?.() === 0 ? 'user root;' : '';

function nginxCommand(folder: string, settings = ''): readonly string[] {
  const nginx = program('nginx', 'nginx', { folders: ['/usr/sbin'] });
  mkdirSync(join(folder, 'logs'));
  const all = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; ${settings}`;
  return [nginx, '-p', folder, '-c', join(folder, 'config'), '-g', all];
}

export const CADDY: Proxy = {
  name: 'Caddy',
  file: 'deploy/Caddyfile',
  hasTls: true,
  passesOn: false,
  rewrite: (text, { folder, certificate, key, port, services }) =>
    `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n${text}`
      .replace('pets.example {', `https://pets.example:${port} {\n\ttls ${certificate} ${key}`)
      .replace(
        'reverse_proxy 127.0.0.1:8080 {',
        `reverse_proxy ${services.map((each) => `127.0.0.1:${each}`).join(' ')} {`,
      )
      // A test does not wait for 5 s.
      .replace('lb_try_duration 5s', 'lb_try_duration 2s'),
  command: (folder) => [
    program('caddy', 'caddy'),
    'run',
    '--adapter',
    'caddyfile',
    '--config',
    join(folder, 'config'),
  ],
};

export const NGINX_TLS: Proxy = {
  name: 'nginx with TLS',
  file: 'deploy/nginx-tls.conf',
  hasTls: true,
  passesOn: false,
  rewrite: (text, { folder, certificate, key, port, services }) =>
    text
      .replace(/^user .*$/m, USER)
      .replace(/ +listen (?:\[::\]:)?80;\n/g, '')
      .replace('location /.well-known', `listen unix:${folder}/plain;\n    location /.well-known`)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace(/ +listen \[::\]:443 ssl;\n/, '')
      .replace(/(ssl_certificate) .*;/, `$1 ${certificate};`)
      .replace(/(ssl_certificate_key) .*;/, `$1 ${key};`)
      .replace('server 127.0.0.1:8080', `server 127.0.0.1:${services[0]}`),
  command: (folder) => nginxCommand(folder),
};

const serverLines = (services: readonly number[]) =>
  services.map((each) => `server 127.0.0.1:${each}`).join(' max_fails=0; ');

export const NGINX: Proxy = {
  name: 'nginx before several instances',
  file: 'deploy/nginx.conf',
  hasTls: false,
  passesOn: true,
  rewrite: (text, { port, services }) =>
    text
      // Docker has a name server, and nginx before 1.27.3 takes no names here.
      .replace(/ +resolver .*;\n/, '')
      .replace('server service:8080 resolve', serverLines(services))
      .replace('listen 8080', `listen 127.0.0.1:${port}`),
  command: (folder) => nginxCommand(folder, USER),
};

/** Before the API. */
export const PROXIES = [CADDY, NGINX_TLS, NGINX] as const;

/** Before the console. */
export const CONSOLE_PROXIES: readonly Proxy[] = [
  {
    name: 'nginx before the console',
    file: 'deploy/nginx-console.conf',
    hasTls: false,
    passesOn: true,
    rewrite: (text, { port, services }) =>
      text
        .replace(/ +resolver .*;\n/, '')
        .replace('server service:8081 resolve', serverLines(services))
        .replace('listen 8081', `listen 127.0.0.1:${port}`),
    command: (folder) => nginxCommand(folder, USER),
  },
  {
    name: 'nginx with single sign-on before the console',
    file: 'deploy/nginx-console-sso.conf',
    hasTls: true,
    passesOn: false,
    rewrite: (text, { folder, certificate, key, port, services }) =>
      text
        .replace('listen 80;', `listen unix:${folder}/plain;`)
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replace(/(ssl_certificate) .*;/, `$1 ${certificate};`)
        .replace(/(ssl_certificate_key) .*;/, `$1 ${key};`)
        .replace('server 127.0.0.1:8081', serverLines(services))
        .replace('server 127.0.0.1:4180', `server 127.0.0.1:${services[0]}`)
        // The certificate of the test.
        .replaceAll('console.pets.example', 'pets.example'),
    command: (folder) => nginxCommand(folder, USER),
  },
];

interface ProxyResponse {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface RunningProxy {
  readonly folder: string;
  /** Sends a request, from a loopback address. */
  readonly send: (
    path: string,
    options?: Pick<RequestOptions, 'method'> & {
      readonly from?: string;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    },
  ) => Promise<ProxyResponse>;
}

/** Runs a proxy before the services on these ports. `change` changes its file for one test. */
export async function startProxy(
  t: Lifetime,
  proxy: Proxy,
  services: readonly number[],
  change = (file: string) => file,
): Promise<RunningProxy> {
  const folder = serverFolder('proxy', TEMPORARY);
  const certificate = join(folder, 'tls.crt');
  const key = join(folder, 'tls.key');
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=pets.example', '-addext', 'subjectAltName=DNS:pets.example'];
  const files = ['-keyout', key, '-out', certificate];
  execFileSync(program('openssl', 'openssl'), ['req', '-x509', ...kind, ...subject, ...files], {
    stdio: 'pipe',
  });
  const port = await freePort();
  const config = proxy.rewrite(change(read(proxy.file)), { folder, certificate, key, port, services });
  writeFileSync(join(folder, 'config'), config);
  const [command = '', ...args] = proxy.command(folder);
  const url = `${proxy.hasTls ? 'https' : 'http'}://pets.example:${port}`;
  const server = await runServer({ port, url, folder, command, args, ready: () => listening(port) });
  t.after(() => server.stop());
  const request = proxy.hasTls ? httpsRequest : httpRequest;
  const agent = proxy.hasTls
    ? new HttpsAgent({ ca: readFileSync(certificate), servername: 'pets.example' })
    : new HttpAgent();
  return {
    folder,
    async send(path, { method = 'GET', from: localAddress = '127.0.0.1', headers = {}, body } = {}) {
      const sent = request({
        host: '127.0.0.1',
        port,
        path,
        method,
        headers: { host: `pets.example:${port}`, ...headers },
        localAddress,
        agent,
      });
      sent.end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: response.statusCode, headers: response.headers, body: await readText(response) };
    },
  };
}
