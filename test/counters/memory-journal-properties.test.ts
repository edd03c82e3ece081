import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { MemoryCounter } from '../../src/counters/memory.ts';
import { BLAMELESS, banInForce, refuse, type Standing } from '../../src/domain/ban.ts';
import type { Caller, CounterStore, StoredStanding } from '../../src/domain/ports.ts';
import { callerName } from '../../src/domain/ports.ts';
import { Instants } from '../../src/domain/instants.ts';
import { take, UNUSED, type Usage } from '../../src/domain/quota.ts';
import type { Store } from '../../src/storage/store.ts';
import { fakeClock } from '../support/clock.ts';
import { openStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ipv4, keyCaller } from './quota-counter-contract.ts';

const POLICY = { banAfter: 4, banSeconds: 60 };
const CALLERS: readonly Caller[] = Array.from({ length: 3_300 }, (_, i) =>
  i % 3 === 0
    ? { kind: 'address', address: ipv4(i), limits: { perMinute: 3, perDay: 100 } }
    : // Two keys of each account.
      keyCaller(i, i - (i % 3) + 1, { perMinute: 1, perDay: 4 }),
);

/** Far fewer than call, so that callers are dropped from memory all the time. */
const CAPACITY = 700;

/** What the rules alone say, on a time line that never ends. */
class Model {
  usage = new Map<string, Usage>();
  standings = new Map<number, Standing>();

  charge(caller: Caller, unix: number): void {
    const now = { unix, monotonic: unix };
    const standing = caller.kind === 'key' ? (this.standings.get(caller.keyId) ?? BLAMELESS) : BLAMELESS;
    if (banInForce(standing, now) !== undefined) return;
    const name = callerName(caller);
    const { usage, quota } = take(this.usage.get(name) ?? UNUSED, caller.limits, now);
    if (quota.admitted) this.usage.set(name, usage);
    else if (caller.kind === 'key') this.standings.set(caller.keyId, refuse(standing, POLICY, now));
  }

  copy(): Model {
    return Object.assign(new Model(), { usage: new Map(this.usage), standings: new Map(this.standings) });
  }
}

const anyStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('charge' as const),
      from: fc.nat(CALLERS.length),
      count: fc.oneof(fc.nat(20), fc.nat(CALLERS.length)),
      times: fc.integer({ min: 1, max: 4 }),
      backwards: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      by: fc.oneof(fc.nat(2_000), fc.nat(70_000)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('flush' as const),
      meanwhile: fc.oneof(fc.constant(0), fc.nat(CALLERS.length)),
    }),
  },
  // The disk fails after so many writes, and is well again, or the process ends there.
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('fail' as const), writes: fc.nat(6), crash: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
);

/** The store of a service, whose disk can fail. */
class Disk implements CounterStore {
  readonly #store: CounterStore;
  /** After so many more writes it fails. */
  left = Number.POSITIVE_INFINITY;

  constructor(store: CounterStore) {
    this.#store = store;
  }

  readonly journal = {
    append: (...entries: Parameters<NonNullable<CounterStore['journal']>['append']>) =>
      this.#written(async () => (await this.#store.journal?.append(...entries)) ?? 0),
    dropBefore: (number: number) => this.#written(async () => this.#store.journal?.dropBefore(number)),
  };

  readUsage = (caller: string) => this.#store.readUsage(caller);
  readStanding = (keyId: number) => this.#store.readStanding(keyId);
  write: CounterStore['write'] = (changes) => this.#written(() => this.#store.write(changes));
  readLifted = () => this.#store.readLifted();
  dropLifted: CounterStore['dropLifted'] = (keyIds) => this.#written(() => this.#store.dropLifted(keyIds));
  prune: CounterStore['prune'] = (...args) => this.#store.prune(...args);

  async #written<T>(write: () => Promise<T>): Promise<T> {
    if (this.left-- <= 0) throw new Error('disk full');
    return write();
  }
}

/** Every caller and key stands in the rows as in one of the models; a ban that began since then is there all the same. */
async function assertStored({ counters }: Store, models: readonly Model[], now: Model): Promise<void> {
  for (const caller of CALLERS) {
    const name = callerName(caller);
    assertOneOf(
      await counters.readUsage(name),
      models.map(({ usage }) => usage.get(name)),
    );
    if (caller.kind !== 'key') continue;
    assertOneOf(
      await counters.readStanding(caller.keyId),
      models.map(({ standings }) => storedOf(standings.get(caller.keyId), now.standings.get(caller.keyId))),
    );
  }
}

function storedOf(standing: Standing | undefined, now: Standing | undefined): StoredStanding | undefined {
  if (now?.ban !== undefined && now.ban.until !== standing?.ban?.until) return { refusals: [], ban: now.ban };
  return standing && { ...standing, refusals: standing.refusals.toArray() };
}

function assertOneOf<T>(actual: T, expected: readonly T[]): void {
  const texts = expected.map((each) => JSON.stringify(each));
  assert.ok(texts.includes(JSON.stringify(actual)), `${JSON.stringify(actual)} is none of ${texts.join()}`);
}

test('decisions §6: after a crash all is as the last flush held it, after a clean stop as it was', {
  timeout: 120_000,
}, async (t: TestContext) => {
  let runs = 0;
  const folder = temporaryFolder(t);
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 6, maxLength: 15 }), async (steps) => {
      const url = `sqlite:${folder}/${runs++}.db`;
      let clock = fakeClock('2026-11-21T00:00:00Z');
      const start = async () => {
        const store = openStore(url, clock);
        await store.lockForServing('production');
        const disk = new Disk(store.counters);
        return { store, disk, counter: new MemoryCounter(clock, POLICY, disk, CAPACITY) };
      };
      let { store, disk, counter } = await start();
      let now = new Model();
      let flushed = [new Model()];
      const crash = async () => {
        await store.close();
        clock = fakeClock(clock().unix);
        ({ store, disk, counter } = await start());
        await assertStored(store, flushed, now);
      };
      // Also when it fails, for a writing thread would keep the process from its end.
      await using _ = { [Symbol.asyncDispose]: () => store.close() };
      for (const step of [...steps, { kind: 'flush' as const, meanwhile: 0 }, { kind: 'crash' as const }]) {
        if (step.kind === 'charge') {
          const range = CALLERS.slice(step.from, step.from + step.count);
          const callers = step.backwards ? range.toReversed() : range;
          for (let time = 0; time < step.times; time++) {
            // One after the other: of two keys of one account, the one that need not be looked up would be counted first.
            for (const caller of callers) {
              now.charge(caller, clock().unix);
              await counter.charge(caller);
            }
          }
        } else if (step.kind === 'advance') clock.advance(step.by);
        else if (step.kind === 'flush') {
          const flush = counter.flush();
          const before = now.copy();
          // Each of these is in it as it was before, or as it is now.
          for (const caller of CALLERS.slice(0, step.meanwhile)) {
            now.charge(caller, clock().unix);
            await counter.charge(caller);
          }
          await flush;
          flushed = step.meanwhile === 0 ? [before] : [before, now.copy()];
        } else if (step.kind === 'fail') {
          disk.left = step.writes;
          const failed = await counter.flush().then(
            () => false,
            () => true,
          );
          flushed = failed ? [...flushed, now.copy()] : [now.copy()];
          disk.left = Number.POSITIVE_INFINITY;
        }
        if (step.kind === 'crash' || (step.kind === 'fail' && step.crash)) {
          await crash();
          // From here on it is what was found, of which each caller may have another state.
          now = await found(store);
          flushed = [now.copy()];
        }
      }
    }),
    { numRuns: 12 },
  );
});

async function found({ counters }: Store): Promise<Model> {
  const model = new Model();
  for (const caller of CALLERS) {
    const usage = await counters.readUsage(callerName(caller));
    if (usage !== undefined) model.usage.set(callerName(caller), usage);
    const standing = caller.kind === 'key' ? await counters.readStanding(caller.keyId) : undefined;
    if (caller.kind === 'key' && standing !== undefined)
      model.standings.set(caller.keyId, {
        ...standing,
        refusals: Instants.of(standing.refusals),
      });
  }
  return model;
}
