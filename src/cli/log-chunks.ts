import type { pino } from 'pino';

/** Characters of one write. */
const CHUNK_LENGTH = 16 * 1024;

/** Milliseconds after which an incomplete chunk is written too. */
const WRITE_INTERVAL = 100;

/** The format of a line, except for its time. */
export const LOG_FORMAT = { base: null, formatters: { level: (level: string) => ({ level }) } };

type Destination = ReturnType<typeof pino.destination>;

/**
 * Joins lines of the log to chunks for `destination`. pino's destination can do this too, but it measures its whole buffer
 * for every line, which takes longer than making the line.
 */
export class LogChunks {
  readonly #destination: Destination;
  readonly #timer: NodeJS.Timeout;
  #chunk = '';
  #ended = false;

  constructor(destination: Destination) {
    this.#destination = destination;
    this.#timer = setInterval(() => this.#writeChunk(), WRITE_INTERVAL);
    this.#timer.unref();
  }

  write(line: string): void {
    this.#chunk += line;
    if (this.#chunk.length >= CHUNK_LENGTH) this.#writeChunk();
  }

  /** Writes all lines before it returns. pino calls it for fatal errors. Does nothing after `end`. */
  flushSync(): void {
    if (this.#ended) return;
    this.#writeChunk();
    this.#destination.flushSync();
  }

  /** Writes the last chunk. */
  end(): void {
    clearInterval(this.#timer);
    this.#writeChunk();
    this.#ended = true;
  }

  #writeChunk(): void {
    if (this.#chunk === '') return;
    this.#destination.write(this.#chunk);
    this.#chunk = '';
  }
}
