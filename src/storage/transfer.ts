import { createHash } from 'node:crypto';
import { PetStoreError } from '../domain/errors.ts';
import { type Table, TABLES } from './transfer-tables.ts';

/** The values of a row in the order of the table's columns; integers are exact. */
export type TransferRow = readonly (bigint | string | null)[];

/** Rows to a chunk: large enough that a round trip does not count, small enough that memory stays flat. */
export const CHUNK = 2_000;

/** All tables of a database as of one instant, however long they are read and whatever is written meanwhile. */
export interface Snapshot {
  /** Ascending in the primary key, text by its bytes; at most CHUNK rows at a time. */
  rows(table: Table): AsyncIterable<readonly TransferRow[]>;
  /** The largest id that the table ever gave out, also of a row that is gone; 0 when it gave out none. */
  lastId(table: Table): Promise<bigint>;
}

/** A transaction that alone writes to a database, and sees what it wrote. */
export interface Target extends Pick<Snapshot, 'rows'> {
  insert(table: Table, rows: readonly TransferRow[]): Promise<void>;
  /** Ids given out from now on are larger than `id`, at least 1. */
  continueAfter(table: Table, id: bigint): Promise<void>;
}

/** Whole databases, for the command line. Every method rejects with PetStoreError `unavailable` as the ports do. */
export interface Transfer {
  /** Tells databases apart, whatever address each was reached by. */
  identity(): Promise<string>;
  /** What `work` gives. Nothing is written. */
  read<T>(work: (source: Snapshot) => Promise<T>): Promise<T>;
  /** Commits what `work` wrote, or nothing when it throws or the process ends. */
  fill<T>(work: (target: Target) => Promise<T>): Promise<T>;
}

export interface Step {
  readonly table: Table;
  readonly work: 'copied' | 'verified';
}

export interface TransferOptions {
  /** Told after every chunk how many rows of the table are done. */
  readonly onProgress: (step: Step, rows: number) => void;
  /** Runs when all is written and verified; nothing is kept when it throws. */
  readonly beforeCommit: (target: Pick<Snapshot, 'rows'>) => Promise<void>;
}

export interface TableSummary {
  readonly name: string;
  readonly rows: number;
  /** Of its rows in the order of the primary key, each as a line of JSON: `[1,"Rex",7,null]`. Hexadecimal. */
  readonly sha256: string;
}

/**
 * Copies every table into an empty database, as of one instant, and reads back what was written before it is
 * committed: all of it, or nothing.
 * @throws PetStoreError `conflict` when both are the same database, the target is not empty, or what it gives back
 *   differs from what was read; `unavailable`.
 */
export async function copyTables(
  from: Transfer,
  to: Transfer,
  { onProgress, beforeCommit }: TransferOptions,
): Promise<readonly TableSummary[]> {
  if ((await from.identity()) === (await to.identity()))
    throw new PetStoreError('conflict', 'Both addresses lead to the same database.');
  return from.read((source) =>
    to.fill(async (target) => {
      for (const table of TABLES) await refuseRows(target, table);
      const summaries: TableSummary[] = [];
      for (const table of TABLES) {
        const read = await copy(source, target, table, (rows) => onProgress({ table, work: 'copied' }, rows));
        const written = new Digest(table);
        for await (const rows of target.rows(table)) {
          written.add(rows);
          onProgress({ table, work: 'verified' }, written.rows);
        }
        summaries.push(agreed(read.summary(), written.summary()));
      }
      await beforeCommit(target);
      return summaries;
    }),
  );
}

async function copy(
  source: Snapshot,
  target: Target,
  table: Table,
  onProgress: (rows: number) => void,
): Promise<Digest> {
  const digest = new Digest(table);
  for await (const rows of source.rows(table)) {
    await target.insert(table, rows);
    digest.add(rows);
    onProgress(digest.rows);
  }
  const lastId = table.assignsIds ? await source.lastId(table) : 0n;
  if (lastId > 0n) await target.continueAfter(table, lastId);
  return digest;
}

async function refuseRows(target: Target, table: Table): Promise<void> {
  for await (const _ of target.rows(table)) {
    const message = `The target is not empty: its table ${table.name} has rows. Copy into an empty database.`;
    throw new PetStoreError('conflict', message);
  }
}

function agreed(read: TableSummary, written: TableSummary): TableSummary {
  if (read.rows === written.rows && read.sha256 === written.sha256) return read;
  const counts = `${read.rows} rows were read and ${written.rows} are there`;
  const message = `Nothing was copied: the table ${read.name} differs from its copy (${counts}).`;
  throw new PetStoreError('conflict', message);
}

class Digest {
  readonly #table: Table;
  readonly #hash = createHash('sha256');
  rows = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  add(rows: readonly TransferRow[]): void {
    this.#hash.update(rows.map(lineOf).join(''));
    this.rows += rows.length;
  }

  summary(): TableSummary {
    return { name: this.#table.name, rows: this.rows, sha256: this.#hash.digest('hex') };
  }
}

function lineOf(row: TransferRow): string {
  const values = row.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)));
  return `[${values.join(',')}]\n`;
}
