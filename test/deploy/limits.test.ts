// Limits that must be in order: those of the service, and those of the files in deploy/. Contract: sections 6, 7 and 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PetStore } from '../../client/src/index.ts';
import { STOP_DEADLINE } from '../../src/cli/serve.ts';
import { readConfig } from '../../src/app/config.ts';
import { HTTP_LIMITS } from '../../src/http/server.ts';
import { SECOND } from '../../src/domain/clock.ts';
import { read, readYaml } from './files.ts';

const NGINX_FILES = ['deploy/nginx.conf', 'deploy/nginx-tls.conf'];

/** Milliseconds that a client gives an answer after its wait. */
const ANSWER_TIME = 10 * SECOND;

/** Every value of a setting of a file, with its unit: `proxy_read_timeout 60s;` of nginx, `TimeoutStopSec=15` of systemd. */
function valuesOf(file: string, name: string): readonly number[] {
  const units: Record<string, number> = { ms: 1, s: SECOND, '': 1, k: 1024 };
  return Array.from(
    read(file).matchAll(new RegExp(`^\\s*${name}[ =:]+(?:\\d+ )?(\\d+)(ms|s|k|);?$`, 'gm')),
    ([, value, unit = '']) => Number(value) * (units[unit] ?? Number.NaN),
  );
}

/** The only value of a setting of a file. */
function valueOf(file: string, name: string): number {
  const [value, ...others] = valuesOf(file, name);
  assert.ok(value !== undefined && others.length === 0, `${file}: ${name}`);
  return value;
}

/** Milliseconds that a request of a follower waits at the service, by the description. */
function longestWait(): number {
  return JSON.parse(read('openapi.json')).components.parameters.wait.schema.maximum * SECOND;
}

test('a proxy waits longer for an answer than a follower waits for an event', () => {
  for (const file of NGINX_FILES)
    assert.ok(valueOf(file, 'proxy_read_timeout') > longestWait() + ANSWER_TIME, file);
  // Without these settings Caddy has no limit.
  for (const name of ['read_timeout', 'response_header_timeout', 'write_timeout'])
    for (const value of valuesOf('deploy/Caddyfile', name))
      assert.ok(value > longestWait() + ANSWER_TIME, name);
});

test('the client follows with the longest wait of the service', async () => {
  const sent: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    sent.push(input as string);
    return new Response('', { status: 401 });
  };
  const client = new PetStore({ apiKey: 'petstore_test_x', baseUrl: 'http://127.0.0.1:1/v1', fetch });
  await assert.rejects(client.events.follow().next());
  assert.equal(Number(new URL(sent[0] ?? '').searchParams.get('wait')) * SECOND, longestWait());
});

test('a proxy closes an idle connection before the service does', () => {
  for (const file of NGINX_FILES) {
    const [upstream = Number.NaN] = valuesOf(file, 'keepalive_timeout');
    assert.ok(upstream + ANSWER_TIME < HTTP_LIMITS.keepAliveTimeout, file);
  }
  assert.ok(valueOf('deploy/Caddyfile', 'keepalive') + ANSWER_TIME < HTTP_LIMITS.keepAliveTimeout);
});

test('a proxy takes all that the service takes', () => {
  for (const file of NGINX_FILES) {
    // 0 is no limit.
    assert.equal(valueOf(file, 'client_max_body_size'), 0, file);
    assert.ok(valueOf(file, 'large_client_header_buffers') > HTTP_LIMITS.maxHeaderSize, file);
    assert.ok(valueOf(file, 'proxy_buffer_size') >= HTTP_LIMITS.maxHeaderSize, file);
  }
});

test('whoever stops the service waits until it would kill itself', () => {
  // `docker stop`.
  assert.ok(STOP_DEADLINE < 10 * SECOND);
  assert.ok(valueOf('deploy/systemd/petstore.service', 'TimeoutStopSec') * SECOND > STOP_DEADLINE);
  assert.ok(valueOf('compose.yaml', 'stop_grace_period') > STOP_DEADLINE);
  const file = 'deploy/kubernetes/petstore.yaml';
  const [, preStop] = /preStop: \{ sleep: \{ seconds: (\d+) \} \}/.exec(read(file)) ?? [];
  assert.ok((valueOf(file, 'terminationGracePeriodSeconds') - Number(preStop)) * SECOND > STOP_DEADLINE);
});

test('Kubernetes notices an instance that stops before the signal comes', () => {
  const [, period, failures] =
    /readinessProbe:[^]*?periodSeconds: (\d+)[^]*?failureThreshold: (\d+)/.exec(
      read('deploy/kubernetes/petstore.yaml'),
    ) ?? [];
  const [, preStop] = /sleep: \{ seconds: (\d+)/.exec(read('deploy/kubernetes/petstore.yaml')) ?? [];
  assert.ok(Number(preStop) > Number(period) * Number(failures));
});

test('systemd allows more open files than the service has connections', () => {
  assert.ok(valueOf('deploy/systemd/petstore.service', 'LimitNOFILE') > HTTP_LIMITS.maxConnections + 1_000);
});

test('Prometheus scrapes often enough for the shortest range of an alert', () => {
  interface Rules {
    readonly groups: readonly {
      readonly rules: readonly { readonly alert: string; readonly expr: string }[];
    }[];
  }
  const rules = (readYaml('deploy/prometheus/alerts.yml') as Rules).groups.flatMap((group) => group.rules);
  const ranges = rules.flatMap(({ expr }) =>
    Array.from(expr.matchAll(/\[(\d+)m\]/g), ([, value]) => Number(value)),
  );
  assert.ok(ranges.length > 5);
  for (const file of ['deploy/prometheus/prometheus.yml', 'deploy/prometheus/one-machine.yml'])
    assert.ok(valueOf(file, 'scrape_interval') * 4 <= Math.min(...ranges) * 60 * SECOND, file);
});

test('proxies and Prometheus use the ports that the service has', () => {
  const { port } = readConfig({});
  assert.match(read('deploy/nginx-tls.conf'), new RegExp(`server 127\\.0\\.0\\.1:${port} `));
  assert.match(read('deploy/nginx.conf'), new RegExp(`server service:${port} `));
  assert.match(read('deploy/Caddyfile'), new RegExp(`\treverse_proxy 127\\.0\\.0\\.1:${port} `));
  const guide = read('docs/go-live.md');
  assert.match(guide, new RegExp(`http://127\\.0\\.0\\.1:${port}/readyz`));
  const [, metricsPort] = /^METRICS_PORT=(\d+)$/m.exec(guide) ?? [];
  assert.match(
    read('deploy/prometheus/one-machine.yml'),
    new RegExp(`targets: \\["127\\.0\\.0\\.1:${metricsPort}"\\]`),
  );
});
