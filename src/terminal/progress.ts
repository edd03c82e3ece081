import type { Clock } from '../domain/clock.ts';
import { describeCount } from './table.ts';

/** Milliseconds between two updates. More often would only flicker. */
const UPDATE_INTERVAL = 100;

/** Progress is shown only if this is a terminal. */
export interface ProgressTerminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** One line on a terminal: how many animals, or other `things`, are done, and how many a second. */
export class Progress {
  readonly things: string;
  readonly #terminal: ProgressTerminal;
  readonly #clock: Clock;
  readonly #start: number;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(terminal: ProgressTerminal, clock: Clock, things = 'animals') {
    this.#terminal = terminal;
    this.#clock = clock;
    this.things = things;
    this.#start = clock().monotonic;
  }

  readonly update = (count: number): void => {
    const now = this.#clock().monotonic;
    if (this.#terminal.isTTY !== true || now - this.#shownAt < UPDATE_INTERVAL) return;
    this.#shownAt = now;
    const rate = Math.round((count * 1_000) / Math.max(1, now - this.#start));
    this.#terminal.write(`\r${describeCount(count)} ${this.things}, ${describeCount(rate)}/s\x1b[K`);
  };

  /** Deletes the line, so that another one can take its place. */
  clear(): void {
    if (this.#terminal.isTTY === true && this.#shownAt !== Number.NEGATIVE_INFINITY)
      this.#terminal.write('\r\x1b[K');
  }
}
