import { existsSync, readFileSync } from 'node:fs';

const HEADER = 32;
const FRAME_HEADER = 24;

/** How many transactions the write-ahead log of a SQLite file holds: one frame of each is marked as its last. */
export function transactionsInLog(file: string): number {
  if (!existsSync(`${file}-wal`)) return 0;
  const log = readFileSync(`${file}-wal`);
  if (log.length < HEADER) return 0;
  const pageSize = log.readUInt32BE(8);
  const salt = log.readBigUInt64BE(16);
  let count = 0;
  for (let at = HEADER; at + FRAME_HEADER + pageSize <= log.length; at += FRAME_HEADER + pageSize) {
    // Frames with another salt are left over from before the log was reset.
    if (log.readBigUInt64BE(at + 8) === salt && log.readUInt32BE(at + 4) > 0) count++;
  }
  return count;
}
