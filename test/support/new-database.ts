import { readFileSync, writeFileSync } from 'node:fs';
import { openDatabase } from '../../src/storage/sqlite/database.ts';

let first: Uint8Array | undefined;

/** Puts an empty SQLite database at this path. All but the first are copies, because the migrations take longer. */
export function newDatabase(file: string): void {
  if (first !== undefined) return writeFileSync(file, first);
  openDatabase(file, { createFolder: false }).close();
  first = readFileSync(file);
}
