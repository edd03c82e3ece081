// The health check of the Dockerfile, and the monitoring of compose.yaml. Contract: section 7.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../src/app/config.ts';
import { freePort } from '../support/servers.ts';
import { startTestService } from '../support/service.ts';
import { DASHBOARD, pathOf, read, readYaml } from './files.ts';

interface Compose {
  readonly services: Record<
    string,
    {
      readonly volumes?: string[];
      readonly profiles?: string[];
      readonly ports?: string[];
      readonly environment?: Record<string, string>;
      readonly healthcheck?: { readonly test: readonly string[] };
    }
  >;
}

const { services } = readYaml('compose.yaml') as Compose;

/** The exit status of the health check of the image, in a container with these variables. */
async function healthCheck(variables: Record<string, string>): Promise<number> {
  const [, json = ''] = /^HEALTHCHECK .*\\\n {2}CMD (.*)$/m.exec(read('Dockerfile')) ?? [];
  const [command, ...args] = JSON.parse(json) as string[];
  assert.equal(command, 'node');
  const child = spawn(process.execPath, args, { env: variables, cwd: pathOf(''), stdio: 'ignore' });
  const [status] = (await once(child, 'exit')) as [number | null];
  return Number(status);
}

test('the health check of the image follows HOST and PORT, and fails without a service', async (t) => {
  for (const HOST of ['0.0.0.0', '127.0.0.1', '127.0.0.2']) {
    const service = await startTestService(t, { env: { HOST } });
    const { port: PORT } = new URL(service.url);
    assert.equal(await healthCheck({ HOST, PORT }), 0, HOST);
  }
  assert.equal(await healthCheck({ PORT: String(await freePort()) }), 1);
});

test('the health check of compose.yaml asks whether an instance is ready', () => {
  assert.deepEqual(services['service']?.healthcheck?.test, ['CMD', 'node', 'bin/health.js', '/readyz']);
});

test('monitoring runs only when asked for, and only for this machine', () => {
  for (const name of ['prometheus', 'grafana']) {
    assert.deepEqual(services[name]?.profiles, ['monitoring']);
    for (const port of services[name]?.ports ?? []) assert.match(port, /^127\.0\.0\.1:/);
  }
});

test('the console is off by default, and if turned on, only for this machine', () => {
  assert.deepEqual(services['console']?.profiles, ['console']);
  for (const port of services['console']?.ports ?? []) assert.match(port, /^127\.0\.0\.1:8081:/);
  const { CONSOLE_PORT: port = '', CONSOLE_URL: url = '' } = services['service']?.environment ?? {};
  // As Docker fills them in when they are not set.
  const unset = (text: string) => text.replace(/^\$\{\w+:-\}$/, '');
  assert.equal(readConfig({ CONSOLE_PORT: unset(port), CONSOLE_URL: unset(url) }).console, undefined);
  for (const file of ['deploy/nginx-console.conf', 'deploy/nginx-console-sso.conf'])
    assert.match(read(file), /proxy_set_header X-Forwarded-For \$remote_addr;/);
  assert.match(read('deploy/nginx-console-sso.conf'), /location \/ \{\n +auth_request /);
});

test('everything that the Dockerfile copies exists, and .dockerignore lets it in', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
  assert.ok(copied.length >= 5);
  const allowed = new Set(read('.dockerignore').match(/(?<=^!).+/gm));
  for (const path of copied) assert.ok(existsSync(pathOf(path)) && allowed.has(path), path);
});

test('every file that compose.yaml mounts exists', () => {
  const mounts = Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.filter((each) => each.startsWith('./')),
  );
  assert.ok(mounts.length >= 4);
  for (const mount of mounts) assert.ok(existsSync(pathOf(mount.split(':')[0] ?? '')), mount);
});

test('Prometheus asks the instances at METRICS_PORT, and Grafana asks Prometheus', () => {
  const prometheus = read('deploy/prometheus/prometheus.yml');
  const [, host = '', port] = /job_name: petstore\n.*names: \[(\w+)\].*port: (\d+)/.exec(prometheus) ?? [];
  assert.equal(services[host]?.environment?.['METRICS_PORT'], port);
  const [, source = ''] =
    /http:\/\/(\w+):9090/.exec(read('deploy/grafana/provisioning/datasources/prometheus.yml')) ?? [];
  assert.ok(services[source] !== undefined);
  const [, folder] = /path: (\S+)/.exec(read('deploy/grafana/provisioning/dashboards/petstore.yml')) ?? [];
  assert.ok(
    services['grafana']?.volumes?.includes(`./deploy/grafana/petstore.json:${folder}/petstore.json:ro`),
  );
});

test('each panel of the dashboard has a place of its own and says what it shows', () => {
  const taken = new Set<string>();
  for (const { id, title, description, gridPos } of DASHBOARD.panels) {
    assert.ok(title !== '' && description !== '' && gridPos.x + gridPos.w <= 24, title);
    const cells = Array.from({ length: gridPos.w * gridPos.h }, (_, cell) => {
      return `${gridPos.x + (cell % gridPos.w)} ${gridPos.y + Math.floor(cell / gridPos.w)}`;
    });
    for (const cell of [`panel ${id}`, ...cells]) {
      assert.ok(!taken.has(cell), `${title}: ${cell}`);
      taken.add(cell);
    }
  }
});
