// Contract: section 3.
import { type Clock, DAY } from '../../domain/clock.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Answer, Idempotency, Outcome } from '../../domain/ports.ts';
import type { Write } from '../engine.ts';
import { nameOf } from '../writes.ts';
import type { Writer } from './writer.ts';

/** Milliseconds that a request whose idempotency key is in flight waits for the outcome of the first request. */
const IN_FLIGHT_PATIENCE = 1_000;

/** Writes that clients may send again. */
export class IdempotentWrites {
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #inFlight = new Set<string>();

  constructor(writer: Writer, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  async once<A extends readonly unknown[], Status extends number>(
    idempotency: Idempotency,
    work: Write<A, Answer<Status>>,
    ...args: A
  ): Promise<Outcome<Status>> {
    const write = async (patience?: number) => {
      const now = Math.floor(this.#clock().unix);
      const record = { ...idempotency, now, expiredUntil: now - DAY };
      return (await this.#writer.run('once', [record, nameOf(work), args], patience)) as Outcome<Status>;
    };
    const name = `${idempotency.accountId} ${idempotency.key}`;
    if (this.#inFlight.has(name)) return this.#follow(name, write);
    this.#inFlight.add(name);
    try {
      return await write();
    } finally {
      this.#inFlight.delete(name);
    }
  }

  /** A second request with a key in flight gets the outcome of the first one, if that comes soon. */
  async #follow<T>(
    name: string,
    write: (patience: number) => Promise<T>,
  ): Promise<T | { readonly outcome: 'in_flight' }> {
    try {
      return await write(IN_FLIGHT_PATIENCE);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable' && this.#inFlight.has(name))
        return { outcome: 'in_flight' };
      throw error;
    }
  }
}
