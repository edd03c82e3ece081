import { write, writeSync } from 'node:fs';

/** Characters of one write. */
const CHUNK_LENGTH = 16 * 1024;

/** Milliseconds after which an incomplete chunk is written too, and a write that failed is tried again. */
const WRITE_INTERVAL = 100;

/** Bytes that wait for room or for their reader. Beyond them, lines are lost. */
const WAITING_MAX = 16 * 1024 * 1024;

/** Attempts in a row without a byte taken, after which a slow reader counts as none. */
const STALLED_ATTEMPTS = 30;

/** Attempts of `flushSync`, and milliseconds between two of them. */
const LAST_ATTEMPTS = 30;
const LAST_PAUSE = 10;

/** What a log that cannot be written tells of itself. */
interface LogEvents {
  /** Once in an outage. */
  readonly onFailure: (reason: string) => void;
  /** All that waited is written now, and this many lines are not. */
  readonly onLost: (lines: number) => void;
}

/**
 * Joins lines of the log to chunks, and writes them in the background. The descriptor must not block, or be a file. A write
 * that fails is tried again until it succeeds or the process ends, so nothing waits for the log.
 */
export class LogOutput {
  readonly #descriptor: number;
  readonly #events: LogEvents;
  #chunk = '';
  #lines = 0;
  /** Complete chunks, the one that is being written first. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  /** Attempts in a row that failed. */
  #failures = 0;
  #isReported = false;
  #lostLines = 0;
  #onWritten: (() => void) | undefined;

  constructor(descriptor: number, events: LogEvents) {
    this.#descriptor = descriptor;
    this.#events = events;
    setInterval(() => this.#attempt(), WRITE_INTERVAL).unref();
  }

  write(line: string): void {
    this.#chunk += line;
    this.#lines++;
    if (this.#chunk.length < CHUNK_LENGTH) return;
    this.#endChunk();
    // The timer tries again.
    if (this.#failures === 0) this.#writeNext();
  }

  /** Resolves when all lines are written, or after `patience` milliseconds. */
  async flush(patience: number): Promise<void> {
    this.#endChunk();
    this.#writeNext();
    if (this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patience);
      this.#onWritten = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /**
   * Writes the waiting lines before it returns, but waits for their reader only for a moment. A write that runs in the
   * background may end later. pino calls it for fatal errors.
   */
  flushSync(): void {
    this.#endChunk();
    let attempts = LAST_ATTEMPTS;
    const first = this.#isWriting ? 1 : 0;
    while (this.#waiting.length > first && attempts > 0)
      try {
        this.#remove(first, writeSync(this.#descriptor, this.#waiting[first] as Buffer));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        attempts--;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_PAUSE);
      }
  }

  #attempt(): void {
    // While others wait, the chunk may become complete.
    if (this.#waiting.length === 0) this.#endChunk();
    this.#writeNext();
  }

  #endChunk(): void {
    if (this.#chunk === '') return;
    const bytes = Buffer.from(this.#chunk);
    if (this.#waitingBytes + bytes.length <= WAITING_MAX) {
      this.#waiting.push(bytes);
      this.#waitingBytes += bytes.length;
    } else {
      this.#lostLines += this.#lines;
      this.#reportOnce('its reader is too slow');
    }
    this.#chunk = '';
    this.#lines = 0;
  }

  #writeNext(): void {
    const [chunk] = this.#waiting;
    if (chunk === undefined || this.#isWriting) return;
    this.#isWriting = true;
    write(this.#descriptor, chunk, (error, written) => {
      this.#isWriting = false;
      if (error === null) this.#succeed(written);
      else this.#fail(error);
    });
  }

  #succeed(written: number): void {
    this.#failures = 0;
    this.#remove(0, written);
    if (this.#waiting.length > 0) return this.#writeNext();
    this.#isReported = false;
    this.#onWritten?.();
    if (this.#lostLines === 0) return;
    const lines = this.#lostLines;
    this.#lostLines = 0;
    this.#events.onLost(lines);
  }

  #fail({ code, message }: NodeJS.ErrnoException): void {
    this.#failures++;
    if (code !== 'EAGAIN') this.#reportOnce(message);
    else if (this.#failures === STALLED_ATTEMPTS) this.#reportOnce('nobody reads it');
  }

  #reportOnce(reason: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#events.onFailure(reason);
  }

  /** Removes the first `written` bytes of a chunk. */
  #remove(index: number, written: number): void {
    const chunk = this.#waiting[index] as Buffer;
    if (written === chunk.length) this.#waiting.splice(index, 1);
    else this.#waiting[index] = chunk.subarray(written);
    this.#waitingBytes -= written;
  }
}
