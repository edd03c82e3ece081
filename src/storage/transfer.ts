// Contract: section 2.
import { createHash } from 'node:crypto';
import { ServiceError } from '../domain/errors.ts';
import type { Row } from './sql.ts';
import type { Copyable, Filling, Snapshot, TableReader } from './engine.ts';
import type { AnyTable } from './table.ts';

export interface Step {
  readonly table: AnyTable;
  readonly work: 'copied' | 'verified';
}

interface TransferOptions {
  /** Called after every chunk with the number of rows of the table that are done. */
  readonly onProgress: (step: Step, rows: number) => void;
  /** Runs when all is written and verified. Nothing is kept when it throws. */
  readonly beforeCommit: (target: Filling) => Promise<void>;
}

export interface TableSummary {
  readonly name: string;
  readonly rows: number;
  /** Of its rows in the order of the primary key, each as a line of JSON: `[1,"Rex",7,null]`. Hexadecimal. */
  readonly sha256: string;
}

/**
 * Copies every table into an empty database, as of one instant, and reads back what was written before the commit: all
 * of it, or nothing.
 * @throws ServiceError `conflict` when both are the same database, the target is not empty, or it returns other rows
 *   than were read from the source; `unavailable`.
 */
export async function copyTables(
  tables: readonly AnyTable[],
  from: Copyable,
  to: Copyable,
  { onProgress, beforeCommit }: TransferOptions,
): Promise<readonly TableSummary[]> {
  if ((await from.identity()) === (await to.identity()))
    throw new ServiceError('conflict', 'Both addresses lead to the same database.');
  await using source = await from.snapshot();
  return await to.fill(async (target) => {
    for (const table of tables) await refuseRows(target, table);
    const summaries: TableSummary[] = [];
    for (const table of tables) summaries.push(await copyTable(source, target, table, onProgress));
    await beforeCommit(target);
    return summaries;
  });
}

async function copyTable(
  source: Snapshot,
  target: Filling,
  table: AnyTable,
  onProgress: TransferOptions['onProgress'],
): Promise<TableSummary> {
  const { name } = table;
  const read = await digest(source.rows(table), async (rows, count) => {
    await target.insert(table, rows);
    onProgress({ table, work: 'copied' }, count);
  });
  const lastId = table.assignsIds ? await source.lastId(table) : 0n;
  if (lastId > 0n) await target.continueAfter(table, lastId);
  const written = await digest(target.rows(table), (_, count) =>
    onProgress({ table, work: 'verified' }, count),
  );
  if (read.rows === written.rows && read.sha256 === written.sha256) return { name, ...read };
  const counts = `${read.rows} rows were read and ${written.rows} are there`;
  const message = `Nothing was copied: the table ${name} differs from its copy (${counts}).`;
  throw new ServiceError('conflict', message);
}

async function refuseRows(target: TableReader, table: AnyTable): Promise<void> {
  for await (const _ of target.rows(table)) {
    const message = `The target is not empty: its table ${table.name} has rows. Copy into an empty database.`;
    throw new ServiceError('conflict', message);
  }
}

/** Calls `work` with each chunk and the number of rows so far. */
async function digest<R extends Row>(
  chunks: AsyncIterable<readonly R[]>,
  work: (chunk: readonly R[], count: number) => Promise<void> | void,
): Promise<Omit<TableSummary, 'name'>> {
  const hash = createHash('sha256');
  let rows = 0;
  for await (const chunk of chunks) {
    hash.update(chunk.map(lineOf).join(''));
    rows += chunk.length;
    await work(chunk, rows);
  }
  return { rows, sha256: hash.digest('hex') };
}

function lineOf(row: Row): string {
  const values = row.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)));
  return `[${values.join(',')}]\n`;
}
