import { randomNumbers } from '../../src/cli/invented-pets.ts';

/** Choices that a seed decides. */
export class Random {
  readonly #next: () => number;

  /** `stream` makes another sequence of the same seed, so that one part draws without moving another one. */
  constructor(seed: number, stream = '') {
    let state = seed | 0;
    for (const character of stream) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193);
    this.#next = randomNumbers(state);
  }

  /** At least 0 and less than 1. */
  next(): number {
    return this.#next();
  }

  /** At least `from` and less than `to`. */
  between(from: number, to: number): number {
    return from + this.#next() * (to - from);
  }

  /** An integer, from `from` to `to`. */
  whole(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  /** An integer, at least 0 and less than `end`. */
  below(end: number): number {
    return Math.floor(this.#next() * end);
  }

  /** True in this share of cases. */
  chance(share: number): boolean {
    return this.#next() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}
