// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { Pool } from 'pg';
import { issueKey, sharedServers } from '../support/instances.ts';
import { each, keepAliveClient } from '../support/load.ts';
import { faultsOf } from '../support/order-checker.ts';
import type { Recorded } from '../support/order-events.ts';
import { inventPlans, MAX_OPEN_ORDERS, perform, readAll, type Plan } from '../support/order-histories.ts';
import { Recorder, type Surroundings } from '../support/order-recorder.ts';
import { startServiceProcess, temporaryEnvironment, type Variables } from '../support/process.ts';
import { until } from '../support/until.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { rounds } from '../support/rounds.ts';
import { test } from '../support/test.ts';

/** Histories at the same time, over the same database. */
const WIDTH = 4;

const CLIENTS = 50;

/** SQL for how many orders are open although their time has passed; `now` is in Unix milliseconds. */
const countDue = (now: number) =>
  `SELECT count(*) AS due FROM orders WHERE status = 'pending' AND expires_at <= ${now}`;

/** What some history must contain. Otherwise the histories try too little. */
const OUTCOMES = ['order', 'complete', 'cancel', 'patch', 'delete'].flatMap((kind) => [
  `${kind} done`,
  `${kind} conflict`,
]);

/** Performs the plans, waits until every order that is due has expired, and judges what the clients saw. */
async function judge(
  plans: readonly Plan[],
  surroundingsOf: (history: number) => Surroundings,
  isDue: () => Promise<boolean>,
): Promise<readonly Recorded[]> {
  const recorders = plans.map((_, history) => new Recorder(surroundingsOf(history)));
  await each([...recorders.entries()], WIDTH, ([history, recorder]) =>
    perform(plans[history] ?? [], recorder, 2 * history),
  );
  await until(async () => !(await isDue()));
  await each(recorders, WIDTH, (recorder) => readAll(recorder, 0));

  for (const { history } of recorders) assert.deepEqual(faultsOf(history), []);
  const all = recorders.flatMap(({ history }) => history);
  const outcomes = new Set(all.map((it) => `${it.kind} ${'answer' in it ? outcomeOf(it.answer) : ''}`));
  assert.deepEqual(
    OUTCOMES.filter((outcome) => !outcomes.has(outcome)),
    [],
  );
  return all;
}

function outcomeOf(answer: unknown): string {
  if (answer === undefined) return 'unanswered';
  return typeof answer === 'string' ? answer : 'done';
}

const HISTORIES = rounds(200, 40);

test('histories with kills and lost connections keep every promise', async (t) => {
  const variables: Variables = { ...(await sharedServers(t)), MAX_OPEN_ORDERS };
  const { DATABASE_URL = '' } = variables;
  const { key } = await issueKey(variables);
  const proxy = await startTcpProxy(t, DATABASE_URL);
  const start = async () => {
    const service = await startServiceProcess(t, { ...variables, DATABASE_URL: proxy.url });
    const client = keepAliveClient(service.url, key, CLIENTS);
    t.after(() => client.close());
    return { kill: () => service.child.kill('SIGKILL'), ...client };
  };
  const instances = [await start(), await start(), await start()].map((its) => Promise.resolve(its));
  const instance = (number: number) => instances[number % 3] ?? start();
  const kill = async (number: number) => {
    (await instance(number)).kill();
    instances[number % 3] = start();
  };
  const database = new Pool({ connectionString: DATABASE_URL });
  // The server is stopped before this pool.
  database.on('error', () => undefined);
  t.after(() => database.end());

  const surroundingsOf = (history: number): Surroundings => ({
    send: async (number, ...request) => (await instance(number)).send(...request),
    async expireAt(id, instant) {
      // It locks the animal first, as every write does. So it never comes between two statements of another write.
      await database.query(`
        SELECT 1 FROM pets WHERE id = (SELECT pet_id FROM orders WHERE id = ${id}) FOR UPDATE;
        UPDATE orders SET expires_at = ${instant} WHERE id = ${id} AND status = 'pending'`);
    },
    onEnd(count) {
      if (history % 40 === 10 && count === 20) void kill(Math.floor(history / 40));
      // The server has done the statement, but the service gets no answer.
      if (history % 10 === 5 && count % 5 === 0) proxy.cutAnswerTo(count % 2 === 0 ? 'COMMIT' : 'UPDATE');
    },
  });
  const all = await judge(inventPlans(HISTORIES), surroundingsOf, async () => {
    const { rows } = await database.query<{ due: string }>(countDue(Date.now()));
    return rows[0]?.due !== '0';
  });
  const unanswered = all.filter(({ ended }) => ended === Number.POSITIVE_INFINITY);
  assert.ok(unanswered.length > HISTORIES / 4, 'too few writes went unanswered');
});

test('40 histories over one SQLite file keep every promise', async (t) => {
  const variables: Variables = { ...temporaryEnvironment(t), MAX_OPEN_ORDERS };
  const { key } = await issueKey(variables);
  const { url } = await startServiceProcess(t, variables);
  const client = keepAliveClient(url, key, CLIENTS);
  const file = variables['DATABASE_URL']?.slice('sqlite:'.length) ?? '';
  const database = new DatabaseSync(file, { timeout: 120_000 });
  t.after(() => {
    client.close();
    database.close();
  });
  const surroundings: Surroundings = {
    send: (_number, ...request) => client.send(...request),
    async expireAt(id, instant) {
      database.exec(`UPDATE orders SET expires_at = ${instant} WHERE id = ${id} AND status = 'pending'`);
    },
  };
  await judge(
    inventPlans(40),
    () => surroundings,
    async () => database.prepare(countDue(Date.now())).get()?.['due'] !== 0,
  );
});
