import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { type Clock, steadyClock } from '../../src/domain/clock.ts';
import { Random } from '../support/random.ts';

/** When every run begins: some seconds before a day of UTC ends. */
export const BEGIN = Date.parse('2026-11-21T23:59:20Z');

/** Tasks of one instant after which time must pass: more means that somebody turns in a circle. */
const MOST_AT_ONCE = 20_000;

interface Task {
  readonly at: number;
  readonly number: number;
  readonly process: SimulatedProcess | undefined;
  readonly run: () => void;
  isCancelled: boolean;
}

/** A process of the simulated world. What it began ends with it: its timers, its calls and the answers to them. */
export class SimulatedProcess {
  readonly name: string;
  isAlive = true;
  /** Milliseconds by which its system clock differs. */
  offset = 0;
  /** It does nothing before this instant, as while its machine swaps or its memory is collected. */
  stalledUntil = 0;
  /** What the operating system does when the process ends. */
  readonly onEnd: (() => void)[] = [];

  constructor(name: string) {
    this.name = name;
  }
}

const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  clearImmediate: globalThis.clearImmediate,
  now: Date.now,
  random: Math.random,
  performanceNow: performance.now.bind(performance),
  wait: timersPromises.setTimeout,
  nextTurn: timersPromises.setImmediate,
  randomBytes: crypto.randomBytes,
  randomUUID: crypto.randomUUID,
};

/** Which process runs. One for all runs, because a context carries the values of every storage that it ever met. */
const RUNNING = new AsyncLocalStorage<SimulatedProcess | undefined>();

/**
 * All time, all timers and all randomness of a run. It runs one task after the other, each until nothing of it is left to do but
 * to wait, so the same seed gives the same run. While it is installed, nothing else may run in this thread.
 */
export class Scheduler {
  readonly #heap: Task[] = [];
  readonly #random: Random;
  #now = 0;
  #tasks = 0;
  #atOnce = 0;
  #jump = 0;

  constructor(seed: number) {
    this.#random = new Random(seed, 'scheduler');
  }

  /** Milliseconds since the run began. */
  get now(): number {
    return this.#now;
  }

  /** Unix milliseconds of a machine whose clock is right. */
  get unix(): number {
    return Math.floor(BEGIN + this.#now + this.#jump);
  }

  /** How many tasks ran. */
  get tasks(): number {
    return this.#tasks;
  }

  /** The clock of a process. It never stands still, and nobody can move its second time line. */
  clock(process?: SimulatedProcess): Clock {
    let readings = 0;
    return steadyClock(
      () => this.unix + (process?.offset ?? 0),
      () => 5_000 + this.#now + Math.min(++readings * 1e-6, 0.5),
    );
  }

  /** Runs as a process: what it begins belongs to the process. */
  as<T>(process: SimulatedProcess | undefined, run: () => T): T {
    return RUNNING.run(process, run);
  }

  /** Calls `run` after `delay` milliseconds, unless its process has ended. Returns what cancels it. */
  after(delay: number, run: () => void, process = RUNNING.getStore()): () => void {
    const task = { at: this.#now + delay, number: this.#tasks++, process, run, isCancelled: false };
    push(this.#heap, task);
    return () => {
      task.isCancelled = true;
    };
  }

  wait(delay: number): Promise<void> {
    return new Promise((resolve) => void this.after(delay, resolve));
  }

  /** Lets time pass until `until` holds. Returns whether it came to hold before `end`, in milliseconds of the run. */
  async run(until: () => boolean, end: number): Promise<boolean> {
    await settle();
    while (!until()) {
      const task = this.#take();
      if (task === undefined || task.at > end) {
        if (task !== undefined) push(this.#heap, task);
        return until();
      }
      const { process } = task;
      if (task.isCancelled || process?.isAlive === false) continue;
      if (process !== undefined && process.stalledUntil > task.at) {
        push(this.#heap, { ...task, at: process.stalledUntil });
        continue;
      }
      if (task.at > this.#now) this.#atOnce = 0;
      else if (++this.#atOnce > MOST_AT_ONCE)
        throw new Error(`${process?.name ?? 'the world'} turns in a circle`);
      this.#now = Math.max(this.#now, task.at);
      RUNNING.run(process, task.run);
      await settle();
    }
    return true;
  }

  #take(): Task | undefined {
    return pop(this.#heap);
  }

  /** Takes the place of the timers, the clocks and the randomness of this thread. */
  install(): void {
    RUNNING.enterWith(undefined);
    const timer = (run: () => void, delay: number, isRepeated: boolean) => {
      let cancel = () => {};
      const begin = () => {
        cancel = this.after(Math.max(1, delay), () => {
          if (isRepeated) begin();
          run();
        });
      };
      begin();
      const handle = {
        ref: () => handle,
        unref: () => handle,
        hasRef: () => false,
        refresh: () => {
          cancel();
          begin();
          return handle;
        },
        close: () => cancel(),
      };
      return handle;
    };
    const clear = (handle?: { close?: () => void }) => handle?.close?.();
    const turn = (run: () => void) => {
      const cancel = this.after(0, run);
      return { close: cancel, ref() {}, unref() {} };
    };
    Object.assign(globalThis, {
      setTimeout: (run: (...args: unknown[]) => void, delay = 1, ...args: unknown[]) =>
        timer(() => run(...args), delay, false),
      setInterval: (run: (...args: unknown[]) => void, delay = 1, ...args: unknown[]) =>
        timer(() => run(...args), delay, true),
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) => turn(() => run(...args)),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    });
    Date.now = () => this.unix + (RUNNING.getStore()?.offset ?? 0);
    Math.random = () => this.#random.next();
    performance.now = () => this.#now;
    Object.assign(timersPromises, {
      setTimeout: (delay: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted === true) return reject(signal.reason as Error);
          const cancel = this.after(Math.max(1, delay), () => resolve(value));
          signal?.addEventListener('abort', () => {
            cancel();
            reject(signal.reason as Error);
          });
        }),
      setImmediate: (value?: unknown) => new Promise((resolve) => void this.after(0, () => resolve(value))),
    });
    Object.assign(crypto, {
      randomBytes: (length: number) => this.#random.bytes(length),
      randomUUID: () => {
        const hex = this.#random.bytes(16).toString('hex');
        return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
          '-',
        );
      },
    });
    syncBuiltinESMExports();
  }

  /** Lets what is under way begin its last wait, and gives all that it took back. */
  async uninstall(): Promise<void> {
    await settle();
    const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = real;
    Object.assign(globalThis, {
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout,
      clearInterval,
      clearImmediate,
    });
    Date.now = real.now;
    Math.random = real.random;
    performance.now = real.performanceNow;
    Object.assign(timersPromises, { setTimeout: real.wait, setImmediate: real.nextTurn });
    Object.assign(crypto, { randomBytes: real.randomBytes, randomUUID: real.randomUUID });
    syncBuiltinESMExports();
  }
}

/** Resolves when all promises and ticks are done: nothing of the simulated world waits for the real one. */
function settle(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve));
}

function isBefore(one: Task, other: Task): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}

function push(heap: Task[], task: Task): void {
  let place = heap.push(task) - 1;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent] as Task;
    if (isBefore(above, task)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = task;
}

function pop(heap: Task[]): Task | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Task, heap[child] as Task)) child++;
    if (isBefore(last, heap[child] as Task)) break;
    heap[place] = heap[child] as Task;
    place = child;
  }
  heap[place] = last;
  return first;
}
