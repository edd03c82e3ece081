// Contract: sections 4.3 and 7.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/app/config.ts';
import { call } from '../support/api.ts';
import { startTestService } from '../support/service.ts';
import { read } from './files.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
}

interface Labels {
  readonly matchLabels: Readonly<Record<string, string>>;
}

interface Objects {
  readonly ConfigMap: { readonly data: Readonly<Record<string, string>> };
  readonly Deployment: {
    readonly spec: {
      readonly replicas: number;
      readonly selector: Labels;
      readonly strategy: { readonly rollingUpdate: { readonly maxUnavailable: number } };
      readonly template: {
        readonly metadata: Readonly<Record<'labels' | 'annotations', Readonly<Record<string, string>>>>;
        readonly spec: {
          readonly enableServiceLinks: boolean;
          readonly terminationGracePeriodSeconds: number;
          readonly securityContext: { readonly runAsUser: number };
          readonly containers: readonly [Container];
        };
      };
    };
  };
  readonly PodDisruptionBudget: {
    readonly spec: { readonly maxUnavailable: number; readonly selector: Labels };
  };
  readonly Service: {
    readonly spec: {
      readonly selector: Readonly<Record<string, string>>;
      readonly ports: readonly [{ readonly targetPort: string }];
    };
  };
}

const { ConfigMap, Deployment, PodDisruptionBudget, Service } = Object.fromEntries(
  parseAllDocuments(read('deploy/kubernetes/petstore.yaml')).map((document) => {
    assert.deepEqual(document.errors, []);
    return [document.get('kind'), document.toJS() as unknown];
  }),
) as Objects;
const { template, selector, replicas, strategy } = Deployment.spec;
const [container] = template.spec.containers;
const portOf = (name: string) => container.ports.find((port) => port.name === name)?.containerPort;

test('the service accepts the configuration for Kubernetes', () => {
  const secret = { DATABASE_URL: 'postgres://db.example/petstore', REDIS_URL: 'rediss://cache.example' };
  const config = readConfig({ ...ConfigMap.data, ...secret });
  assert.equal(config.metricsPort, portOf('metrics'));
  assert.equal(config.port, portOf('http'));
  assert.equal(template.metadata.annotations['prometheus.io/port'], String(config.metricsPort));
  assert.match(read('Dockerfile'), new RegExp(`^EXPOSE ${config.port}$`, 'm'));
});

test('Services of Kubernetes set no variables of the pods', () => {
  assert.equal(template.spec.enableServiceLinks, false);
});

test('the probes of Kubernetes ask for paths that answer 200', async (t) => {
  const service = await startTestService(t);
  const { startupProbe, livenessProbe, readinessProbe } = container;
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
    assert.equal(httpGet.port, 'http');
    assert.equal((await call(service.url, httpGet.path)).status, 200);
  }
  // A restart does not bring a database back.
  assert.equal(livenessProbe.httpGet.path, '/healthz');
  assert.equal(readinessProbe.httpGet.path, '/readyz');
});

test('Kubernetes waits longer than the service takes to stop', () => {
  const { seconds } = container.lifecycle.preStop.sleep;
  assert.ok(template.spec.terminationGracePeriodSeconds > seconds + 10);
});

test('a rollout and a disruption leave all instances but one', () => {
  assert.equal(strategy.rollingUpdate.maxUnavailable, 0);
  assert.equal(PodDisruptionBudget.spec.maxUnavailable, 1);
  assert.ok(replicas > 2);
});

test('service, disruption budget and deployment select the same pods', () => {
  const { labels } = template.metadata;
  assert.deepEqual(selector.matchLabels, labels);
  assert.deepEqual(PodDisruptionBudget.spec.selector.matchLabels, labels);
  assert.deepEqual(Service.spec.selector, labels);
  assert.equal(Service.spec.ports[0].targetPort, 'http');
});

test('the pods run as the user of the image', () => {
  assert.match(
    read('Dockerfile'),
    new RegExp(`useradd --system --uid ${template.spec.securityContext.runAsUser} `),
  );
});
