import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { StartupError } from '../../domain/startup-error.ts';
import type { System } from '../../terminal/output.ts';

export const FORMATS = ['csv', 'ndjson'] as const;

export type Format = (typeof FORMATS)[number];

const EXTENSIONS: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

export interface Source {
  readonly format: Format;
  readonly bytes: AsyncIterable<Buffer>;
}

/**
 * Opens a file (`-` is standard input) to be read once. The format is the `given` one, or the one of its extension, or
 * the one that its first bytes show.
 * @throws StartupError when it cannot be read. Reading `bytes` may throw it too.
 */
export async function openSource(
  file: string,
  given: Format | undefined,
  system: Pick<System, 'stdin'>,
): Promise<Source> {
  const rest = read(file, system);
  // Read before anything is written, so that a missing file changes nothing.
  const { value: first = Buffer.of() } = await rest.next();
  const format = given ?? EXTENSIONS[extname(file).toLowerCase()] ?? formatOf(first);
  return { format, bytes: prepend(first, rest) };
}

async function* read(file: string, system: Pick<System, 'stdin'>): AsyncGenerator<Buffer, undefined> {
  try {
    const stream = file === '-' ? system.stdin : createReadStream(file);
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw new StartupError(`Cannot read ${file}: ${systemReason(error)}.`, { cause: error });
  }
}

/** Why a file cannot be used, in the words of the operating system. */
export function systemReason(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return errno === undefined ? message : getSystemErrorMessage(errno);
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

function formatOf(bytes: Buffer): Format {
  return /^\uFEFF?\s*(?:[{[]|$)/.test(bytes.toString('utf8')) ? 'ndjson' : 'csv';
}
