import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '../../domain/api-key.ts';
import type { CounterJournal, RefusalsEntry, UsageEntry } from '../../domain/ports.ts';
import { Query } from './rows.ts';
import type { Writer } from './writer.ts';

/** The journal of the process that serves. */
export class SqliteJournal implements CounterJournal {
  readonly #writer: Writer;
  readonly #environment: Environment;
  readonly #any: Query<[1n]>;

  constructor(db: DatabaseSync, writer: Writer, environment: Environment) {
    this.#any = new Query(db, 'SELECT 1 FROM journal WHERE environment = ? LIMIT 1');
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
  async fold(): Promise<void> {
    if (this.#any.get(this.#environment) === undefined) return;
    await this.#writer.run('foldJournal', [this.#environment]);
  }
}
