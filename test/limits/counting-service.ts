import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { Caller, LimiterStore } from '../../src/limits/limiter.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ipv4, keyCaller } from './quota-contract.ts';

export const POLICY = { banAfter: 3, banSeconds: 300 };

export const addresses = (count: number): Caller[] =>
  Array.from({ length: count }, (_, i) => ({ kind: 'address', address: ipv4(i), limits: PLANS.free }));

/** A key for each of `count` accounts, which may call `limit` times. */
export const keys = (count: number, limit = 1): Caller[] =>
  Array.from({ length: count }, (_, i) => keyCaller(i + 1, i + 1, { perMinute: limit, perDay: limit }));

/** A limiter with its store, and the rows in its file. */
export function service(t: TestContext, around: (store: LimiterStore) => LimiterStore = (store) => store) {
  const file = `${temporaryFolder(t)}/petstore.db`;
  const clock = fakeClock();
  const open = (at: FakeClock): Store => {
    const opened = openStore(`sqlite:${file}`, at);
    t.after(() => opened.close());
    return opened;
  };
  const store = open(clock);
  const db = new DatabaseSync(file);
  t.after(() => db.close());
  const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);
  return { clock, store, open, limiter: new MemoryLimiter(clock, POLICY, around(store.limits)), count };
}

/** The service's default. */
export const BANNING = { banAfter: 100, banSeconds: 300 };

/** One file for several processes, one after the other. Each has a clock of its own. */
export function processes(t: TestContext) {
  const file = `${temporaryFolder(t)}/petstore.db`;
  const start = (at: FakeClock | string | number) => {
    const clock = typeof at === 'function' ? at : fakeClock(at);
    const store = openStore(`sqlite:${file}`, clock);
    t.after(() => store.close());
    return { clock, store, limiter: new MemoryLimiter(clock, BANNING, store.limits) };
  };
  return { file, start };
}

/** The methods of a store, so that a test can replace one of them. */
export const partsOf = (store: LimiterStore): LimiterStore => ({
  readCounts: (caller) => store.readCounts(caller),
  readBanRecords: () => store.readBanRecords(),
  writeCounts: (counts) => store.writeCounts(counts),
  writeBanRecords: (records) => store.writeBanRecords(records),
  readLifted: () => store.readLifted(),
  dropLifted: (keyIds) => store.dropLifted(keyIds),
  prune: (day, endedBefore) => store.prune(day, endedBefore),
});

/** A store whose writes go through `around`. */
export const writingThrough = (
  store: LimiterStore,
  around: (write: () => Promise<void>) => Promise<void>,
): LimiterStore => ({
  ...partsOf(store),
  writeCounts: (counts) => around(() => store.writeCounts(counts)),
  writeBanRecords: (records) => around(() => store.writeBanRecords(records)),
});

/** Adds the caller of each row of counts that is written to `written`, in order. */
export const recordingWrites =
  (written: string[]) =>
  (store: LimiterStore): LimiterStore => ({
    ...partsOf(store),
    writeCounts(counts) {
      written.push(...counts.keys());
      return store.writeCounts(counts);
    },
  });
