import type { Environment } from '../../domain/api-key.ts';
import type { CounterJournal, RefusalsEntry, UsageEntry } from '../../domain/ports.ts';
import type { Writer } from './writer.ts';

/** The journal of the process that serves, which alone adds to it. */
export class SqliteJournal implements CounterJournal {
  readonly #writer: Writer;
  readonly #environment: Environment;

  constructor(writer: Writer, environment: Environment) {
    this.#writer = writer;
    this.#environment = environment;
  }

  append(usage: readonly UsageEntry[], refusals: readonly RefusalsEntry[]): Promise<number> {
    // As text it crosses to the thread that writes more cheaply than as thousands of values.
    const texts = [JSON.stringify(usage), JSON.stringify(refusals)] as const;
    return this.#writer.run('appendToJournal', [this.#environment, ...texts]);
  }

  dropBefore(number: number): Promise<void> {
    return this.#writer.run('dropFromJournal', [this.#environment, number]);
  }

  /** Puts into the rows what the process before left here. For a process that holds the lock for serving. */
  fold(): Promise<void> {
    return this.#writer.run('foldJournal', [this.#environment]);
  }
}
