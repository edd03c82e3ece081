import type { DatabaseSync } from 'node:sqlite';
import type { Environment } from '../../domain/api-key.ts';
import { JournalReader } from './journal-reader.ts';
import { Query } from './rows.ts';

/** The journal of counters, written inside the transaction that the caller holds. */
export function journalWrites(db: DatabaseSync) {
  const append = new Query(db, 'INSERT INTO journal (environment, usage, refusals) VALUES (?, ?, ?)');
  const drop = new Query(db, 'DELETE FROM journal WHERE environment = ? AND id < ?');
  const writeUsage = new Query(db, 'INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?)');
  const writeStanding = new Query(db, 'INSERT OR REPLACE INTO standings VALUES (?, ?, ?, ?, ?, ?)');
  return {
    /** Gives the number of the addition; both are JSON, see the table. */
    appendToJournal(environment: Environment, usage: string, refusals: string): number {
      return Number(append.run(environment, usage, refusals).lastInsertRowid);
    },
    /** Drops the additions with a smaller number; Infinity drops all. */
    dropFromJournal(environment: Environment, before: number): void {
      drop.run(environment, before);
    },
    /** Puts into the rows what they lack, and empties the journal. */
    foldJournal(environment: Environment): void {
      const reader = new JournalReader(db, environment);
      for (const row of reader.usageRows()) writeUsage.run(...row);
      for (const row of reader.standingsRows()) writeStanding.run(...row);
      drop.run(environment, Number.POSITIVE_INFINITY);
    },
  };
}
