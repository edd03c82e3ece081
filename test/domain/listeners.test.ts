import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Listeners } from '../../src/domain/listeners.ts';

test('all listeners know of a change, one after the other, before whoever tells of it goes on', async () => {
  const changes = new Listeners<[id: number]>();
  const heard: string[] = [];
  for (const name of ['first', 'second'])
    changes.listen(async (id) => {
      await setImmediate();
      heard.push(`${name} ${id}`);
    });
  await changes.tell(1);
  assert.deepEqual(heard, ['first 1', 'second 1']);
});
