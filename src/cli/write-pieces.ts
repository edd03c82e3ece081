import type { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { PetStoreError } from '../domain/errors.ts';

/** Milliseconds that a reader may take for one piece. Until an export ends, the database cannot free what it reads. */
export const READER_PATIENCE = 60_000;

/** Resolves after so many milliseconds, and rejects when the signal is aborted before. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

export const systemWait: Wait = (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal });

export class ReaderStalled extends PetStoreError {
  constructor() {
    super(
      'unavailable',
      'The export is incomplete, because nobody read its output for 60 seconds: export to a file instead.',
    );
  }
}

/**
 * Writes each piece after the one before it was read. Closes `pieces`, however it ends.
 * @throws ReaderStalled when one piece is not read within `READER_PATIENCE`; the error of `output`.
 */
export async function writePieces(
  pieces: AsyncIterable<string>,
  output: Writable,
  wait: Wait,
): Promise<void> {
  for await (const piece of pieces) {
    const taken = new AbortController();
    const written = new Promise<void>((resolve, reject) => {
      output.write(piece, (error) => (error ? reject(error) : resolve()));
    });
    const stalled = wait(READER_PATIENCE, taken.signal).then(() => {
      throw new ReaderStalled();
    });
    await Promise.race([written, stalled]).finally(() => taken.abort());
  }
}
