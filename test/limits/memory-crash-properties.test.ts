// What a crash and a clean stop leave in the store. Contract: section 6.7.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { MemoryLimiter } from '../../src/limits/memory.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { banInForce, type BanRecord, newBanRecord, countRefusal } from '../../src/limits/ban.ts';
import { planName, type Caller } from '../../src/limits/limiter.ts';
import { take, UNUSED, type Counts } from '../../src/limits/quota.ts';
import { fakeClock } from '../support/clock.ts';
import { newDatabase } from '../support/new-database.ts';
import { rounds } from '../support/rounds.ts';
import { openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { writingThrough } from './counting-service.ts';

const POLICY = { banAfter: 4, banSeconds: 60 };
/** More than one flush writes. */
const ACCOUNTS = 4_000;
/** Two keys for each account. */
const CALLERS = Array.from({ length: 2 * ACCOUNTS }, (_, i) => ({
  keyId: i + 1,
  accountId: (i >> 1) + 1,
  limits: { perMinute: 2, perDay: 8 },
}));

/** Far fewer than call, so that callers are often dropped from memory. */
const CAPACITY = 500;

type AllCounts = ReadonlyMap<number, Counts>;

/** What the rules alone say, without restarts. Both of its clocks are the same. */
class Model {
  readonly counts = new Map<number, Counts>();
  readonly records = new Map<number, BanRecord>();
  /** Accounts that called since the last flush. */
  readonly active = new Set<number>();

  charge({ keyId, accountId, limits }: (typeof CALLERS)[number], unix: number): void {
    const now = { unix, monotonic: unix };
    const record = this.records.get(keyId) ?? newBanRecord();
    if (banInForce(record, now) !== undefined) return;
    const { counts, quota } = take(this.counts.get(accountId) ?? UNUSED, limits, now);
    if (!quota.admitted) {
      countRefusal(record, POLICY, now);
      this.records.set(keyId, record);
    } else {
      this.counts.set(accountId, counts);
      this.active.add(accountId);
    }
  }
}

/** What the rows of accounts may hold: their counts as one of these flushes, the newest last, found it. */
class Written {
  #flushes: AllCounts[][] = [[new Map()]];
  /** How many accounts had called before each flush. */
  readonly #active: number[] = [];

  /** `states` are those before and after the requests that came during the flush. */
  flushed(states: AllCounts[], active: number): void {
    this.failed(states, active);
    this.#flushes = this.#flushes.slice(Math.max(...this.#active.slice(-10)) > 1_000 ? -10 : -1);
  }

  failed(states: AllCounts[], active: number): void {
    this.#flushes.push(states);
    this.#active.push(active);
  }

  of(accountId: number): (Counts | undefined)[] {
    return this.#flushes.flatMap((states) => states.map((counts) => counts.get(accountId)));
  }
}

const charge = fc.record({
  kind: fc.constant('charge' as const),
  from: fc.nat(CALLERS.length),
  count: fc.oneof(fc.nat(20), fc.nat(CALLERS.length)),
  times: fc.integer({ min: 1, max: 4 }),
});
const advance = fc.record({
  kind: fc.constant('advance' as const),
  by: fc.oneof(fc.nat(2_000), fc.nat(70_000)),
});
const flush = fc.record({
  kind: fc.constant('flush' as const),
  meanwhile: fc.oneof(fc.constant(0), fc.nat(CALLERS.length)),
});
/** A flush during which the disk fails after `writes` writes. */
const fail = fc.record({ kind: fc.constant('fail' as const), writes: fc.nat(6) });
const end = fc.record({ kind: fc.constantFrom('crash' as const, 'stop' as const) });
const anyStep = fc.oneof(
  { weight: 5, arbitrary: charge },
  { weight: 2, arbitrary: advance },
  { weight: 6, arbitrary: flush },
  { weight: 2, arbitrary: fail },
  { weight: 2, arbitrary: end },
);

function assertOneOf<T>(actual: T, expected: readonly T[]): void {
  const text = JSON.stringify(actual);
  if (expected.some((each) => JSON.stringify(each) === text)) return;
  assert.fail(`${text} is none of ${expected.map((each) => JSON.stringify(each)).join()}`);
}

test('a crash loses no ban and at most ten flushes, a clean stop nothing', async (t: TestContext) => {
  let runs = 0;
  const folder = temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 8, maxLength: 20 }), async (steps) => {
      const file = `${folder}/${runs++}.db`;
      newDatabase(file);
      const url = `sqlite:${file}`;
      let clock = fakeClock('2026-11-21T00:00:00Z');
      let left = Number.POSITIVE_INFINITY;
      const start = () => {
        const store = openStore(url, clock);
        const disk = writingThrough(store.limits, (write) =>
          left-- > 0 ? write() : Promise.reject(new Error('disk full')),
        );
        return { store, limiter: new MemoryLimiter(clock, POLICY, disk, undefined, CAPACITY) };
      };
      let { store, limiter } = start();
      // Also when the property fails: the store's writing thread would keep the process from its end.
      await using _ = { [Symbol.asyncDispose]: () => store.close() };
      let model = new Model();
      let written = new Written();
      const call = async (callers: typeof CALLERS) => {
        // One after the other, because a caller that is looked up in the store is counted later.
        for (const each of callers) {
          model.charge(each, clock().unix);
          await limiter.charge({ kind: 'key', ...each } satisfies Caller);
        }
      };
      const restart = async (isClean: boolean) => {
        if (isClean) await limiter.flushAll();
        await store.close();
        clock = fakeClock(clock().unix);
        ({ store, limiter } = start());
        const found = new Model();
        const records = await store.limits.readBanRecords();
        const countingRefusals = (record: BanRecord | undefined) =>
          record?.refusals.filter((instant) => clock().unix - instant < MINUTE) ?? [];
        for (const { keyId, accountId } of CALLERS) {
          const counts = await store.limits.readCounts(planName(accountId));
          assertOneOf(counts, isClean ? [model.counts.get(accountId)] : written.of(accountId));
          if (counts !== undefined) found.counts.set(accountId, counts);
          const record = records.get(keyId);
          const expected = model.records.get(keyId);
          assert.deepEqual(record?.ban, expected?.ban);
          if (isClean) assert.deepEqual(countingRefusals(record), countingRefusals(expected));
          if (record !== undefined) found.records.set(keyId, record);
        }
        model = found;
        written = new Written();
        written.flushed([new Map(found.counts)], 0);
      };
      for (const step of [...steps, { kind: 'flush' as const, meanwhile: 9 }, { kind: 'crash' as const }]) {
        if (step.kind === 'charge') {
          const callers = CALLERS.slice(step.from, step.from + step.count);
          for (let time = 0; time < step.times; time++) await call(callers);
        } else if (step.kind === 'advance') clock.advance(step.by);
        else if (step.kind === 'flush') {
          const active = model.active.size;
          model.active.clear();
          const before = new Map(model.counts);
          const flushing = limiter.flush();
          // An account has two keys, so the flush may find it after the first of its two requests.
          const between = new Map(before);
          for (const caller of CALLERS.slice(0, step.meanwhile)) {
            await call([caller]);
            const { accountId } = caller;
            const counts = model.counts.get(accountId);
            if (counts !== undefined && between.get(accountId) === before.get(accountId))
              between.set(accountId, counts);
          }
          await flushing;
          written.flushed([before, between, new Map(model.counts)], active);
        } else if (step.kind === 'fail') {
          left = step.writes;
          const active = model.active.size;
          model.active.clear();
          const counts = new Map(model.counts);
          await limiter.flush().then(
            () => written.flushed([counts], active),
            () => written.failed([counts], active),
          );
          left = Number.POSITIVE_INFINITY;
        } else await restart(step.kind === 'stop');
      }
    }),
    { numRuns: rounds(100) },
  );
});
