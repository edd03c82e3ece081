// Bans are stored at once (decisions §6).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryCounter } from '../../src/counters/memory.ts';
import { BANNING, partsOf, processes } from './counting-service.ts';
import { chargeAll, keyCaller, repeat } from './quota-counter-contract.ts';

const KEY = keyCaller(1);
const START = '2026-11-21T12:00:00Z';

test('a ban is stored before the request that begins it is answered', async (t) => {
  const { start } = processes(t);
  const { clock, counter, store } = start(START);
  const last = (await chargeAll(counter, repeat(160, KEY))).at(-1);
  assert.ok(last?.kind === 'banned');
  assert.deepEqual(await store.quotas.listBans(), [{ keyId: 1, ...last.ban }]);
  assert.equal((await start(clock).counter.charge(KEY)).kind, 'banned', 'also after a crash');
  assert.equal(await start(clock).store.quotas.liftBan(1), true);
  await counter.flush();
  assert.equal(counter.bansInForce(), 0);
});

test('a ban that cannot be stored at once holds, and the next flush stores it', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  let failing = true;
  const counter = new MemoryCounter(clock, BANNING, {
    ...partsOf(store.counters),
    async write(changes) {
      if (failing) throw new Error('the disk is full');
      return store.counters.write(changes);
    },
  });
  assert.equal((await chargeAll(counter, repeat(160, KEY))).at(-1)?.kind, 'banned');
  assert.deepEqual(await store.quotas.listBans(), []);
  await assert.rejects(counter.flush(), /disk is full/);
  failing = false;
  await counter.flush();
  assert.equal((await store.quotas.listBans()).length, 1);
});
