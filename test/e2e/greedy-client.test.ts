// A client far past its ban beside others. Contract: section 6. `npm run torture` measures what it costs them.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { call } from '../support/api.ts';
import { issueKey } from '../support/instances.ts';
import { each, keepAliveClient } from '../support/load.ts';
import { startServiceProcess, temporaryEnvironment } from '../support/process.ts';
import { isTorture } from '../support/rounds.ts';
import { startTestService } from '../support/service.ts';
import { countStatements } from '../support/statements.ts';
import { test } from '../support/test.ts';

const LIMITS = { perMinute: 5, perDay: 100 };

/** Requests of the greedy client. */
const GREED = 2_000;

/** Statements of tasks that run by themselves, such as the flush of counts. */
const MOST_OF_BACKGROUND = 50;

test('a client past its ban costs the look-up of its key at most, and 20 others are answered beside it', async (t) => {
  const service = await startTestService(t, { env: { BAN_AFTER: '3' } });
  const { url } = service;
  const greedy = await service.issueKey({ account: 'greedy', limits: LIMITS });
  const others = await Promise.all(
    Array.from({ length: 20 }, (_, number) => service.issueKey({ account: `other ${number}` })),
  );
  const counted = countStatements(t);
  const work = async () => {
    counted.take();
    for (const key of others) assert.equal((await call(url, '/v1/pets', { key })).status, 200);
    return counted.take().statements;
  };
  await work();
  const quiet = await work();
  for (let request = 0; request < 8; request++) await call(url, '/v1/pets', { key: greedy });
  const client = keepAliveClient(url, greedy, 20);
  t.after(() => client.close());
  counted.take();
  const flood = each(Array<string>(GREED).fill('/v1/pets'), 20, async (path) => {
    const { status, text } = await client.send(path);
    assert.deepEqual([status, JSON.parse(text).code], [429, 'key_banned']);
  });
  const attacked = await work();
  await flood;
  const more = attacked + counted.take().statements - quiet;
  assert.ok(more <= GREED + MOST_OF_BACKGROUND, `${more} statements more`);
});

/** How often it is measured without and with the greedy client, and how long, in milliseconds. */
const [ROUNDS, TIME] = isTorture ? [5, 10_000] : [0, 0];

/** Milliseconds between two requests of one of the others. */
const PACE = 50;

if (isTorture)
  test('beside a client far past its ban, the p99 of 20 others stays under twice the quiet one', async (t) => {
    const variables = { ...temporaryEnvironment(t), BAN_AFTER: '10' };
    const { key: greedy } = await issueKey(variables, { account: 'greedy', limits: LIMITS });
    const keys: string[] = [];
    while (keys.length < 20) keys.push((await issueKey(variables, { account: `other ${keys.length}` })).key);
    const { url } = await startServiceProcess(t, variables);
    const clients = keys.map((key) => keepAliveClient(url, key, 1));
    t.after(() => {
      for (const client of clients) client.close();
    });
    const measure = async () => {
      const times: number[] = [];
      const end = performance.now() + TIME;
      const work = async (client: (typeof clients)[number], number: number) => {
        await wait((PACE / clients.length) * number);
        for (let request = 0; performance.now() < end; request++) {
          const begin = performance.now();
          const body = request % 10 === 0 ? '{"name":"Rex","categoryId":1}' : undefined;
          const { status } = await client.send('/v1/pets', body);
          times.push(performance.now() - begin);
          assert.equal(status, body === undefined ? 200 : 201);
          await wait(PACE);
        }
      };
      await Promise.all(clients.map(work));
      return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? 0;
    };
    await measure();
    const p99: { readonly quiet: number[]; readonly attacked: number[] } = { quiet: [], attacked: [] };
    const file = new URL('../support/greedy-client.ts', import.meta.url);
    while (p99.quiet.length < ROUNDS) {
      p99.quiet.push(await measure());
      const worker = new Worker(file, { workerData: { url, key: greedy, connections: 20 } });
      await wait(1_000);
      p99.attacked.push(await measure());
      await worker.terminate();
    }
    const show = (times: readonly number[]) => times.map((time) => time.toFixed(1)).join(', ');
    t.diagnostic(`p99, quiet ${show(p99.quiet)} ms; attacked ${show(p99.attacked)} ms`);
    const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
    assert.ok(median(p99.attacked) < 2 * median(p99.quiet));
  });
