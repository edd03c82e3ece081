import type { Clock } from '../domain/clock.ts';

/** How often the line is rewritten at most, in milliseconds. */
const INTERVAL = 100;

/** Where progress is shown: nowhere, unless it is a terminal. */
export interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** One line on a terminal that tells how many (animals, unless `things` says otherwise) are done, and how many a second. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #things: string;
  readonly #start: number;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(terminal: Terminal, clock: Clock, things = 'animals') {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#things = things;
    this.#start = clock().monotonic;
  }

  readonly update = (count: number): void => {
    const now = this.#clock().monotonic;
    if (this.#terminal.isTTY !== true || now - this.#shownAt < INTERVAL) return;
    this.#shownAt = now;
    const rate = Math.round((count * 1_000) / Math.max(1, now - this.#start));
    this.#terminal.write(
      `\r${count.toLocaleString('en-US')} ${this.#things}, ${rate.toLocaleString('en-US')}/s\x1b[K`,
    );
  };

  /** Makes room for another line, and for the end. */
  clear(): void {
    if (this.#terminal.isTTY === true && this.#shownAt !== Number.NEGATIVE_INFINITY)
      this.#terminal.write('\r\x1b[K');
  }
}
