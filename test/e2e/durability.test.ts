// Contract: sections 2 and 3.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { issueKey } from '../support/instances.ts';
import { keepAliveClient } from '../support/load.ts';
import { run, startServiceProcess, temporaryEnvironment } from '../support/process.ts';
import { rounds } from '../support/rounds.ts';
import { test } from '../support/test.ts';

const KILLS = rounds(20, 5);
const CREATORS = 16;

test('kills under load lose no answered create and give no id twice', async (t) => {
  const env = temporaryEnvironment(t);
  const { key } = await issueKey(env);
  const answered = new Map<string, string>();

  for (let kill = 0; kill < KILLS; kill++) {
    const service = await startServiceProcess(t, env);
    const client = keepAliveClient(service.url, key, CREATORS);
    let count = 0;
    // Killed after a number of answers, not of milliseconds, so that every round has some.
    const enough = 20 + 13 * kill;
    const create = async (creator: number) => {
      for (let n = 0; ; n++) {
        const name = `${kill}-${creator}-${n}`;
        const idempotency = n % 2 === 0 ? { 'idempotency-key': name } : {};
        try {
          const { status, text } = await client.send(
            '/v1/pets',
            `{"name":"${name}","categoryId":1}`,
            idempotency,
          );
          assert.equal(status, 201);
          const id = /^\{"id":(\d+),/.exec(text)?.[1] ?? '';
          assert.ok(!answered.has(id), `id ${id} came twice`);
          answered.set(id, name);
        } catch (error) {
          // The connection ends with the process; anything else is a broken promise.
          if (error instanceof assert.AssertionError) throw error;
          return;
        }
        if (++count === enough) service.child.kill('SIGKILL');
      }
    };
    await Promise.all([
      ...Array.from({ length: CREATORS }, (_, i) => create(i)),
      once(service.child, 'exit'),
    ]);
    client.close();
  }

  const { stdout } = await run(['export'], env);
  const stored = new Map<string, string>();
  for (const [, id = '', name = ''] of stdout.matchAll(/"id":(\d+),"name":"([^"]+)"/g)) {
    assert.ok(!stored.has(id));
    stored.set(id, name);
  }
  assert.ok(answered.size >= KILLS * 20);
  for (const [id, name] of answered) assert.equal(stored.get(id), name);
  assert.equal(new Set(stored.values()).size, stored.size, 'nothing was created twice');
});
