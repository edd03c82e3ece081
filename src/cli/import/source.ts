import {
  closeSync,
  constants,
  createReadStream,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { getSystemErrorMessage } from 'node:util';
import { isAscii, isUtf8 } from 'node:buffer';
import { StartupError } from '../../domain/startup-error.ts';
import type { System } from '../../terminal/output.ts';
import { arrayElements } from './array.ts';
import { type Line, LineDecoder, type LineEncoding, readLines } from './lines.ts';
import type { ReadAs } from './report.ts';

export const FORMATS = ['csv', 'ndjson'] as const;

export type Format = (typeof FORMATS)[number];

export const ENCODINGS = ['utf-8', 'utf-16', 'windows-1252'] as const;

export type Encoding = (typeof ENCODINGS)[number];

const ENCODING_NAMES: Readonly<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16': 'UTF-16',
  'windows-1252': 'Windows-1252',
};

const EXTENSIONS: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

const [LINE_FEED, RETURN, QUOTE] = [0x0a, 0x0d, 0x22];

/** Bytes. What a file is, is guessed from its beginning. */
const SAMPLE_SIZE = 64 * 1024;

/** What a file is, unless its beginning or name shall tell. */
interface SourceOptions {
  readonly format?: Format;
  readonly encoding?: Encoding;
}

export interface Source {
  readonly format: Format;
  readonly lines: AsyncGenerator<Line, undefined>;
  /** What the file was taken for, so far. */
  readonly describe: () => Pick<ReadAs, 'format' | 'encoding' | 'lineEnds'>;
}

/**
 * Opens a file (`-` is standard input) to be read once. An abort ends the reading.
 * @throws StartupError when it cannot be read. Reading `lines` may throw it too.
 */
export async function openSource(
  file: string,
  { format: chosen, encoding }: SourceOptions,
  system: Pick<System, 'stdin'>,
  signal?: AbortSignal,
): Promise<Source> {
  // Read before anything is written, so that a missing file changes nothing.
  const { sample: raw, all } = await takeSample(read(file, system, signal));
  const utf16 = encoding === undefined || encoding === 'utf-16' ? utf16Of(raw, encoding) : undefined;
  const sample = utf16 === undefined ? raw : Buffer.concat([...new Utf16(utf16).push(raw)]);
  const bytes = utf16 === undefined ? all : toUtf8(all, utf16);
  const text = sample.toString('utf8');
  const format = chosen ?? EXTENSIONS[extname(file).toLowerCase()] ?? formatOf(text);
  const isArray = format === 'ndjson' && /^\uFEFF?\s*\[\s*(?:[{\]]|$)/.test(text);
  const decoder = new LineDecoder(utf16 === undefined ? lineEncodingOf(encoding, format, sample) : 'utf-16');
  const lineEnd = hasReturnsOnly(sample, format) ? RETURN : LINE_FEED;
  return {
    format,
    lines: isArray ? arrayElements(bytes, decoder) : readLines(bytes, decoder, lineEnd),
    describe: () => ({
      format: isArray ? 'a JSON array' : format === 'csv' ? 'CSV' : 'NDJSON',
      encoding: ENCODING_NAMES[decoder.encoding],
      lineEnds: lineEnd === RETURN && !isArray ? ['CR line ends'] : [],
    }),
  };
}

/** What a file held, in a temporary file that only this process can open, and that goes with it. */
interface Spool {
  /** Reads it from its beginning. */
  readonly open: () => Pick<System, 'stdin'>;
  readonly close: () => void;
}

/** Reads what can be read only once (`-` is standard input). @throws StartupError */
export async function spool(
  file: string,
  system: Pick<System, 'stdin'>,
  signal?: AbortSignal,
): Promise<Spool> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  let handle: number;
  try {
    handle = openSync(join(folder, 'rows'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
  const close = () => closeSync(handle);
  try {
    for await (const chunk of read(file, system, signal)) writeFileSync(handle, chunk);
  } catch (error) {
    close();
    throw error;
  }
  return {
    open: () => ({ stdin: createReadStream('', { fd: handle, start: 0, autoClose: false }) }),
    close,
  };
}

async function* read(
  file: string,
  system: Pick<System, 'stdin'>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, undefined> {
  let stream: System['stdin'] | undefined;
  const stop = () => {
    if (stream !== undefined && 'destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
  };
  signal?.addEventListener('abort', stop);
  try {
    stream = file === '-' ? system.stdin : openFile(file);
    for await (const chunk of stream) yield chunk as Buffer;
    // A stream that a signal closed may end like one that was read.
    signal?.throwIfAborted();
  } catch (error) {
    signal?.throwIfAborted();
    throw new StartupError(`Cannot read ${file}: ${systemReason(error)}.`, { cause: error });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

function openFile(file: string): Readable {
  if (statSync(file, { throwIfNoEntry: false })?.isFIFO() !== true) return createReadStream(file);
  // A thread would wait for the other end of the pipe, and no signal would end that.
  return new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK), writable: false });
}

/** Why a file cannot be used, in the words of the operating system. */
export function systemReason(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return errno === undefined ? message : getSystemErrorMessage(errno);
}

/** The beginning of a file, and all of it. */
async function takeSample(bytes: AsyncGenerator<Buffer, undefined>) {
  const first: Buffer[] = [];
  for (let size = 0; size < SAMPLE_SIZE; ) {
    const { value, done } = await bytes.next();
    if (done === true) break;
    first.push(value);
    size += value.length;
    // A pipe may give more only when its first rows are taken. CR may be the first half of a line end.
    if (value.includes(LINE_FEED) || (value.includes(RETURN) && value.at(-1) !== RETURN)) break;
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* first;
    yield* bytes;
  }
  return { sample: Buffer.concat(first), all: all() };
}

function formatOf(text: string): Format {
  return /^\uFEFF?\s*(?:[{[]|$)/.test(text) ? 'ndjson' : 'csv';
}

/** Undefined: the first line that is not ASCII shows it. JSON is UTF-8. */
function lineEncodingOf(
  encoding: Encoding | undefined,
  format: Format,
  sample: Buffer,
): LineEncoding | undefined {
  if (encoding === 'windows-1252') return encoding;
  if (encoding !== undefined || format === 'ndjson') return 'utf-8';
  const isUnicode = sample
    .toString('latin1')
    .split(/[\r\n]/)
    .some((line) => {
      const bytes = Buffer.from(line, 'latin1');
      return !isAscii(bytes) && isUtf8(bytes);
    });
  return isUnicode ? 'utf-8' : undefined;
}

/** Whether CR alone ends lines, as in files of old spreadsheets. Line ends in quoted fields of CSV do not count. */
function hasReturnsOnly(sample: Buffer, format: Format): boolean {
  let isQuoted = false;
  let returns = 0;
  for (const byte of sample) {
    if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted;
    if (byte === LINE_FEED && !isQuoted) return false;
    if (byte === RETURN && !isQuoted) returns++;
  }
  return returns > 0;
}

type Utf16Order = 'utf-16le' | 'utf-16be';

function utf16Of(sample: Buffer, encoding: Encoding | undefined): Utf16Order | undefined {
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le';
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be';
  // A header of ASCII is every second byte zero.
  const begin = sample.subarray(0, 256);
  const zeros = [0, 0];
  for (const [at, byte] of begin.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (even > begin.length / 4 && odd === 0) return 'utf-16be';
  return encoding === 'utf-16' || (odd > begin.length / 4 && even === 0) ? 'utf-16le' : undefined;
}

async function* toUtf8(bytes: AsyncIterable<Buffer>, order: Utf16Order): AsyncGenerator<Buffer> {
  const utf16 = new Utf16(order);
  for await (const chunk of bytes) yield* utf16.push(chunk);
  yield* utf16.end();
}

/** No byte of UTF-8. It makes its line one that cannot be read. */
const NO_UTF8 = Buffer.of(0xff);

/** UTF-16 to UTF-8. Half a surrogate pair becomes a byte that is no UTF-8. */
class Utf16 {
  readonly #order: Utf16Order;
  #rest: Buffer = Buffer.of();

  constructor(order: Utf16Order) {
    this.#order = order;
  }

  *push(chunk: Buffer): Generator<Buffer> {
    const bytes = Buffer.concat([this.#rest, chunk]);
    let end = bytes.length - (bytes.length % 2);
    const high = end < 2 ? 0 : (bytes[this.#order === 'utf-16le' ? end - 1 : end - 2] ?? 0);
    // The other half of a pair may come with the next chunk.
    if (high >= 0xd8 && high <= 0xdb) end -= 2;
    this.#rest = bytes.subarray(end);
    yield* this.#convert(bytes.subarray(0, end));
  }

  *end(): Generator<Buffer> {
    if (this.#rest.length > 0) yield NO_UTF8;
  }

  *#convert(bytes: Buffer): Generator<Buffer> {
    const ordered = this.#order === 'utf-16le' ? bytes : Buffer.from(bytes).swap16();
    const text = ordered.toString('utf16le');
    if (text.isWellFormed()) yield Buffer.from(text);
    else
      for (const [index, piece] of text.split(/\p{Surrogate}/u).entries())
        yield* index === 0 ? [Buffer.from(piece)] : [NO_UTF8, Buffer.from(piece)];
  }
}
