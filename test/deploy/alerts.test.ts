// The alert rules and the dashboard of deploy/, checked with Prometheus' own program and against /metrics.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import { call } from '../support/api.ts';
import { amtool, promtool } from '../support/deploy-checks.ts';
import { startSharedService } from '../support/instances.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';
import { dashboardQueries, pathOf, read, readYaml } from './files.ts';

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

interface AlertTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

const readRules = (file: string) => (readYaml(file) as Rules).groups.flatMap(({ rules }) => rules);

const RULES = readRules('deploy/prometheus/alerts.yml');

const QUERIES = [...RULES.map(({ expr }) => expr), ...dashboardQueries()];

/** A name of a metric, and the labels in its selector or in a `by (…)`. */
const NAMES = /\b(?:petstore|nodejs|process)_\w+|\bup\b/g;
const LABELS = /[{,] ?(\w+)(?:=~?|!=)"|by \(([^)]+)\)/g;

/** The text of /metrics of a service with every store, after requests of every kind. */
async function metricsText(t: TestContext): Promise<string> {
  const service = await startSharedService(t, { env: { METRICS_PORT: '0' } });
  const key = await service.issueKey();
  await call(service.url, '/v1/pets', { key });
  await call(service.url, '/v1/pets/7', { key });
  const url = String(service.log.find(({ msg }) => msg === 'metrics')?.['url']);
  let text = '';
  await until(async () => {
    text = await (await fetch(url)).text();
    // The service counts these two in the background.
    return (
      /^petstore_redis_heartbeat_seconds_count [1-9]/m.test(text) &&
      /^petstore_deprecated_accounts\{/m.test(text)
    );
  });
  return text;
}

for (const file of ['prometheus.yml', 'one-machine.yml'])
  test(`Prometheus accepts ${file} and its alert rules`, async () => {
    await promtool('check', 'config', pathOf(`deploy/prometheus/${file}`));
  });

test('Alertmanager accepts its configuration, and sends each alert to somebody', async () => {
  const file = pathOf('deploy/prometheus/alertmanager.yml');
  await amtool('check-config', file);
  for (const severity of ['critical', 'warning']) {
    const receiver = await amtool(
      'config',
      'routes',
      'test',
      `--config.file=${file}`,
      `severity=${severity}`,
    );
    assert.equal(receiver.trim(), 'operators');
  }
});

for (const file of ['alerts.yml', 'machine-alerts.yml'])
  test(`each alert of ${file} fires when it should, and not before`, async () => {
    await promtool('test', 'rules', pathOf(`test/deploy/${file}`));
    const { tests } = readYaml(`test/deploy/${file}`) as AlertTests;
    const cases = tests.flatMap((each) => each.alert_rule_test);
    for (const { alert } of readRules(`deploy/prometheus/${file}`)) {
      const casesOfAlert = cases.filter(({ alertname }) => alertname === alert);
      const fires = new Set(casesOfAlert.map((each) => each.exp_alerts.length > 0));
      assert.deepEqual(
        fires,
        new Set([false, true]),
        `${alert} needs a case that fires and one that does not`,
      );
    }
  });

test('the queries of the dashboard are valid', async (t) => {
  const file = join(temporaryFolder(t), 'queries.yml');
  const rules = dashboardQueries().map((expr, number) => ({ record: `query_${number}`, expr }));
  assert.ok(rules.length > 15);
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }));
  await promtool('check', 'rules', file);
});

test('alerts and dashboard use metrics and labels that exist, and show all of ours', async (t) => {
  const text = await metricsText(t);
  const existing = new Set(text.match(/^\w+(?=[{ ])/gm)).add('up');
  const used = new Set(QUERIES.flatMap((query) => query.match(NAMES) ?? []));
  assert.deepEqual(
    [...used].filter((name) => !existing.has(name)),
    [],
  );
  // Prometheus adds these two.
  const labels = new Set([...text.matchAll(/[{,](\w+)="/g)].map(([, name]) => name))
    .add('job')
    .add('instance');
  const usedLabels = Array.from(QUERIES.join('\n').matchAll(LABELS), ([, one, list]) => one ?? list ?? '')
    .join(', ')
    .split(', ');
  assert.deepEqual(
    usedLabels.filter((name) => !labels.has(name)),
    [],
  );
  const shown = dashboardQueries().join('\n');
  const ours = [...text.matchAll(/^# TYPE (petstore_\w+)/gm)].map(([, name = '']) => name);
  assert.ok(ours.length >= 8);
  const documented = read('docs/operating.md');
  for (const name of ours) {
    assert.ok(shown.includes(name), `${name} is not on the dashboard`);
    assert.ok(documented.includes(`\`${name}\``), `${name} is not in docs/operating.md`);
  }
});
