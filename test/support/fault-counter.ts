/*
 * For what makes calls of storage fail (failing-sqlite.ts, failing-postgres.ts): a process and its threads count their calls in one
 * file, and one of the calls fails.
 */
import { existsSync, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const { FAULT_FOLDER: folder = '', FAULT_KIND: kind, FAULT_CALL: number } = process.env;
const counter = openSync(join(folder, 'calls'), 'a');

/** What happens to the call that fails. */
export { kind as FAULT_KIND };

/** Whether this call is to fail. Two threads may see the same length, so the first one that makes the folder takes it. */
export function isChosen(): boolean {
  if (!existsSync(join(folder, 'armed'))) return false;
  writeSync(counter, '.');
  if (fstatSync(counter).size < Number(number)) return false;
  try {
    mkdirSync(join(folder, 'failed'));
    return true;
  } catch {
    // A disk that is full stays full.
    return kind === 'full';
  }
}

export function killThisProcess(): void {
  process.kill(process.pid, 'SIGKILL');
}
