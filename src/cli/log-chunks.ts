import type { pino } from 'pino';

/** The log is written in chunks of so many characters, and what there is of one after so many milliseconds. */
const CHUNK = 16 * 1024;
const INTERVAL = 100;

/** How a line looks, besides its time. */
export const LOG_FORMAT = { base: null, formatters: { level: (level: string) => ({ level }) } };

type Destination = ReturnType<typeof pino.destination>;

/**
 * Lines of the log on their way to `destination`, gathered to chunks. It could gather them itself, but measures all it
 * has gathered anew with every line, which takes longer than to make the line.
 */
export class LogChunks {
  readonly #destination: Destination;
  readonly #timer: NodeJS.Timeout;
  #chunk = '';
  #ended = false;

  constructor(destination: Destination) {
    this.#destination = destination;
    this.#timer = setInterval(() => this.#pass(), INTERVAL);
    this.#timer.unref();
  }

  write(line: string): void {
    this.#chunk += line;
    if (this.#chunk.length >= CHUNK) this.#pass();
  }

  /** Writes what there is before it returns; called for what is fatal. Nothing after the end. */
  flushSync(): void {
    if (this.#ended) return;
    this.#pass();
    this.#destination.flushSync();
  }

  /** Hands over the rest. */
  end(): void {
    clearInterval(this.#timer);
    this.#pass();
    this.#ended = true;
  }

  #pass(): void {
    if (this.#chunk === '') return;
    this.#destination.write(this.#chunk);
    this.#chunk = '';
  }
}
