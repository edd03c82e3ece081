// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { startInstances } from '../support/instances.ts';
import { each } from '../support/load.ts';
import { faultsOf } from '../support/order-checker.ts';
import { inventPlans, perform, readAll } from '../support/order-histories.ts';
import { Recorder } from '../support/order-recorder.ts';

test('200 histories of orders over three instances keep every promise', async (t) => {
  const { send, variables } = await startInstances(t, 3, { slowNetwork: Number(process.env['SLOW'] ?? 3) });
  const database = new Client({ connectionString: variables['DATABASE_URL'] });
  await database.connect();
  database.on('error', () => undefined);
  t.after(() => database.end());
  const expireAt = async (id: number, instant: number) => {
    // Like every write, it locks the animal first: then it comes before or after the others, not between their statements.
    await database.query(`
      SELECT 1 FROM pets WHERE id = (SELECT pet_id FROM orders WHERE id = ${id}) FOR UPDATE;
      UPDATE orders SET expires_at = ${instant} WHERE id = ${id} AND status = 'pending'`);
  };
  const histories: Recorder[] = [];
  const start = performance.now();
  await each([...inventPlans(200).entries()], Number(process.env['WIDE'] ?? 4), async ([number, plan]) => {
    const recorder = new Recorder({ send, expireAt });
    await perform(plan, recorder, 1_000 + 2 * number);
    histories.push(recorder);
  });
  console.log('ran', performance.now() - start);
  const counts: any = {};
  for (const r of histories) {
    await readAll(r, 0);
    for (const o of r.history as any[]) {
      const k = `${o.kind} ${typeof o.answer === 'string' ? o.answer : typeof o.answer}`;
      counts[k] = (counts[k] ?? 0) + 1;
    }
  }
  console.log('read', performance.now() - start, counts);
  for (const { history } of histories) assert.deepEqual(faultsOf(history), []);
  console.log('judged', performance.now() - start);
});
