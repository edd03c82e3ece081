// Bans are stored at once. Contract: section 6.6.
import { requireValue } from '../storage/fixture.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { ROOT } from '../support/store.ts';
import { BANNING, partsOf, processes, writingThrough } from './counting-service.ts';
import { chargeAll, keyCaller, repeat } from './quota-contract.ts';

const KEY = keyCaller(1);
const START = '2026-11-21T12:00:00Z';

test('a ban is stored before the request that begins it is answered', async (t) => {
  const { start } = processes(t);
  const { clock, limiter, store } = start(START);
  const last = (await chargeAll(limiter, repeat(160, KEY))).at(-1);
  assert.ok(last?.kind === 'banned');
  assert.deepEqual(await store.limits.listBans(), [{ keyId: 1, ...last.ban }]);
  assert.equal((await start(clock).limiter.charge(KEY)).kind, 'banned', 'also after a crash');
  requireValue(await start(clock).store.bans.lift(ROOT, 1, start(clock).store.limits));
  await limiter.flush();
  assert.equal(limiter.bansInForce(), 0);
});

test('a ban that cannot be stored at once holds, and the next flush stores it', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  let failing = true;
  const disk = writingThrough(store.limits, async (write) => {
    if (failing) throw new Error('the disk is full');
    return write();
  });
  const limiter = new MemoryLimiter(clock, BANNING, disk);
  assert.equal((await chargeAll(limiter, repeat(160, KEY))).at(-1)?.kind, 'banned');
  assert.deepEqual(await store.limits.listBans(), []);
  await assert.rejects(limiter.flush(), /disk is full/);
  failing = false;
  await limiter.flush();
  assert.equal((await store.limits.listBans()).length, 1);
});

test('a key that is banned during a flush stays banned after a crash', async (t) => {
  const { start } = processes(t);
  const { clock, limiter } = start(START);
  await chargeAll(limiter, repeat(159, KEY));
  const flush = limiter.flush();
  assert.equal((await limiter.charge(KEY)).kind, 'banned');
  await flush;
  assert.equal((await start(clock().unix).limiter.charge(KEY)).kind, 'banned');
});

test('a ban that begins while an older one of its key is being lifted stays stored', async (t) => {
  const { start } = processes(t);
  const { clock, store } = start(START);
  let lifting = async () => {};
  const limiter = new MemoryLimiter(clock, BANNING, {
    ...partsOf(store.limits),
    async dropLifted(keyIds) {
      await lifting();
      await store.limits.dropLifted(keyIds);
    },
  });
  await chargeAll(limiter, repeat(160, KEY));
  requireValue(await store.bans.lift(ROOT, 1, store.limits));
  lifting = async () => void (await chargeAll(limiter, repeat(100, KEY)));
  await limiter.flush();
  assert.equal((await start(clock().unix).limiter.charge(KEY)).kind, 'banned');
});

for (const noticed of [true, false]) {
  const when = noticed ? 'after' : 'before';
  test(`a lifted ban stays lifted over a crash ${when} the service has heard of it`, async (t) => {
    const { start } = processes(t);
    const { clock, limiter, store } = start(START);
    await chargeAll(limiter, repeat(160, KEY));
    requireValue(await store.bans.lift(ROOT, 1, store.limits));
    if (noticed) await limiter.flush();
    const after = start(clock().unix);
    assert.deepEqual(await after.store.limits.listBans(), []);
    assert.equal((await after.store.limits.readBanRecords()).size, 0);
    await after.limiter.flush();
    clock.advance(60_000);
    assert.equal((await start(clock().unix).limiter.charge(KEY)).kind, 'admitted');
  });
}
