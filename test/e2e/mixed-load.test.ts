// A service under mixed load while its servers come and go: MINUTES=30 npm run torture (docs/guarantees.md). Contract: sections 4 and 6.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE } from '../../src/domain/clock.ts';
import { call } from '../support/api.ts';
import { startCatalogueLoad } from '../support/catalogue-load.ts';
import { issueKey, sharedServers } from '../support/instances.ts';
import { startServiceProcess } from '../support/process.ts';
import { Random } from '../support/random.ts';
import { isTorture } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { type Fault, startTcpProxy } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';

/** How long it runs. CI has one fault before each server. */
const TIME = isTorture ? Number(process.env['MINUTES'] ?? 1) * MINUTE : 0;

/** Milliseconds that a fault lasts, and requests whose time is measured after it. */
const [LASTS, PROBES] = isTorture ? [2_000, 200] : [300, 20];

const FAULTS: readonly Fault[] = ['cut', 'reset', 'half-open', 'one way', 'silent', { delay: () => 300 }];

/** Handles that come and go by themselves: connections of pool, client and log. */
const MOST_MORE_HANDLES = 20;

test('after each of many faults under load, requests are answered and handles are as before', async (t) => {
  const variables = await sharedServers(t);
  const { key } = await issueKey(variables);
  const [database, redis] = [
    await startTcpProxy(t, variables['DATABASE_URL'] ?? ''),
    await startTcpProxy(t, variables['REDIS_URL'] ?? ''),
  ];
  const times = { DATABASE_CONNECT_TIMEOUT: '2000', DATABASE_STATEMENT_TIMEOUT: '1000' };
  const through = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  const { url, child } = await startServiceProcess(t, { ...variables, ...through, ...times });
  const load = startCatalogueLoad({ url, key, variables, prefix: 'mixed', creators: 2, readers: 2 });
  const isReady = async () => (await call(url, '/readyz')).status === 200;
  /** What the process holds, and the p99 of lists in milliseconds. */
  const measure = async () => {
    const answers: number[] = [];
    while (answers.length < PROBES) {
      const begin = performance.now();
      const { status } = await call(url, '/v1/pets?limit=5', { key });
      answers.push(performance.now() - begin);
      assert.ok(status === 200 || status === 503);
      await wait(10);
    }
    const pages = Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]);
    return {
      handles: readdirSync(`/proc/${child.pid}/fd`).length,
      megabytes: (pages * 4096) / 1_048_576,
      p99: answers.toSorted((one, other) => one - other)[Math.floor(PROBES * 0.99)] ?? 0,
    };
  };
  const seed = Number(process.env['SEED'] ?? 1);
  t.diagnostic(`SEED=${seed}`);
  const random = new Random(seed);
  const measured = [await measure()];
  for (const end = performance.now() + TIME; measured.length < 3 || performance.now() < end; ) {
    const proxy = measured.length % 2 === 0 ? database : redis;
    proxy.begin(FAULTS[random.below(FAULTS.length)] ?? assert.fail());
    await wait(LASTS);
    await load.answered();
    proxy.end();
    const created = load.created();
    await until(async () => load.created() > created && (await isReady()));
    measured.push(await measure());
  }
  await load.finish();
  const third = Math.max(1, Math.floor(measured.length / 3));
  const median = (part: typeof measured, name: 'handles' | 'megabytes' | 'p99') =>
    part.map((each) => each[name]).toSorted((one, other) => one - other)[part.length >> 1] ?? 0;
  const show = (part: typeof measured) =>
    (['handles', 'megabytes', 'p99'] as const)
      .map((name) => `${name} ${median(part, name).toFixed(1)}`)
      .join(', ');
  t.diagnostic(`${measured.length - 1} faults, ${load.created()} created, ${load.refused()} × 503`);
  t.diagnostic(`first third: ${show(measured.slice(0, third))}; last third: ${show(measured.slice(-third))}`);
  await until(
    () => readdirSync(`/proc/${child.pid}/fd`).length <= (measured[0]?.handles ?? 0) + MOST_MORE_HANDLES,
  );
});
