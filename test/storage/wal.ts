import { existsSync, readFileSync } from 'node:fs';

const HEADER = 32;
const FRAME_HEADER = 24;

/** How many transactions the write-ahead log of a SQLite file holds: one frame of each is marked as its last. */
export function transactionsInLog(file: string): number {
  if (!existsSync(`${file}-wal`)) return 0;
  const log = readFileSync(`${file}-wal`);
  const pageSize = readPageSize(log);
  // Frames with another salt are left over from before the log was reset.
  return findFrames(log).filter(
    (end) =>
      log.readBigUInt64BE(end - pageSize - 16) === log.readBigUInt64BE(16) &&
      log.readUInt32BE(end - pageSize - 20) > 0,
  ).length;
}

/** Where the frames of a log end that are whole. */
export function findFrames(log: Buffer): readonly number[] {
  if (log.length < HEADER) return [];
  const size = FRAME_HEADER + readPageSize(log);
  return Array.from(
    { length: Math.floor((log.length - HEADER) / size) },
    (_, index) => HEADER + (index + 1) * size,
  );
}

function readPageSize(log: Buffer): number {
  return log.length < HEADER ? 0 : log.readUInt32BE(8);
}
