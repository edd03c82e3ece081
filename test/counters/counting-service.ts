import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { MemoryCounter } from '../../src/counters/memory.ts';
import { PLANS } from '../../src/domain/plan.ts';
import type { Caller, CounterStore } from '../../src/domain/ports.ts';
import type { Store } from '../../src/storage/store.ts';
import { type FakeClock, fakeClock } from '../support/clock.ts';
import { openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ipv4, keyCaller } from './quota-counter-contract.ts';

export const POLICY = { banAfter: 3, banSeconds: 300 };

export const addresses = (count: number): Caller[] =>
  Array.from({ length: count }, (_, i) => ({ kind: 'address', address: ipv4(i), limits: PLANS.free }));

/** Of an account each, which may call once. */
export const keys = (count: number): Caller[] =>
  Array.from({ length: count }, (_, i) => keyCaller(i + 1, i + 1, { perMinute: 1, perDay: 1 }));

/** A service that counts, and what an operator finds in its file. */
export function service(t: TestContext, around: (store: CounterStore) => CounterStore = (store) => store) {
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
  return { clock, store, open, counter: new MemoryCounter(clock, POLICY, around(store.counters)), count };
}

/** Bans as the service does by default. */
export const BANNING = { banAfter: 100, banSeconds: 300 };

/** One file, served by one process after the other: each has a clock of its own, and a time line that begins anew. */
export function processes(t: TestContext) {
  const file = `${temporaryFolder(t)}/petstore.db`;
  const start = (at: FakeClock | string | number) => {
    const clock = typeof at === 'function' ? at : fakeClock(at);
    const store = openStore(`sqlite:${file}`, clock);
    t.after(() => store.close());
    return { clock, store, counter: new MemoryCounter(clock, BANNING, store.counters) };
  };
  return { file, start };
}

/** The same store, of which a test puts something else in the place of a part. */
export const partsOf = (store: CounterStore): CounterStore => ({
  ...(store.journal && { journal: store.journal }),
  readUsage: (caller) => store.readUsage(caller),
  readStanding: (keyId) => store.readStanding(keyId),
  write: (changes) => store.write(changes),
  readLifted: () => store.readLifted(),
  dropLifted: (keyIds) => store.dropLifted(keyIds),
  prune: (day, endedBefore) => store.prune(day, endedBefore),
});

/** Gives all rows of usage that are written to `written`, in their order. */
export const countingRows =
  (written: string[]) =>
  (store: CounterStore): CounterStore => ({
    ...partsOf(store),
    write(changes) {
      written.push(...changes.usage.keys());
      return store.write(changes);
    },
  });

/** Calls `then` when refusals have been given to the journal, before they are answered. */
export const afterRefusals =
  (then: (appended: Promise<number>) => Promise<void>) =>
  (store: CounterStore): CounterStore => {
    const { journal } = store;
    assert.ok(journal);
    return {
      ...partsOf(store),
      journal: {
        dropBefore: (number) => journal.dropBefore(number),
        async append(usage, refusals) {
          const appended = journal.append(usage, refusals);
          if (refusals.length > 0) await then(appended);
          return appended;
        },
      },
    };
  };
