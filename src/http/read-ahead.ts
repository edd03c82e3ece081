import {
  allowReading,
  type Executed,
  mayRead,
  type NodeSocket,
  PAUSED,
  type Parser,
} from './node-connection.ts';
import type { IncomingMessage } from './node-http.ts';
import type { NodeResponse } from './response.ts';

/** Reading stops while more answers of a connection, or more bytes of them, are not taken by the client. */
const MOST_UNSENT = 16;
const MOST_UNSENT_BYTES = 256 * 1024;

/** Reading goes on once only this many answers are left. */
const FEW_UNSENT = 8;

/**
 * Limits how many pipelined requests of a connection are read ahead of their answers. The parser stops even in the
 * middle of what was read: one read holds up to 64 KiB, which is 1,800 requests (docs/decisions/0035).
 */
export class ReadAhead {
  readonly #socket: NodeSocket;
  readonly #parser: Parser;
  readonly #nodeOnExecute: (result: Executed) => void;
  readonly #queue: () => void;
  /** Node's responses that are not handed to the kernel yet, in their order. */
  readonly #unsent: NodeResponse[] = [];
  #isTurn = false;
  #isStopping = false;
  /** Handles the request at which the parser stopped. */
  #postponed: (() => void) | undefined;
  #upgrade: IncomingMessage | undefined;
  /** What was read behind the request at which the parser stopped. */
  #rest: Buffer | undefined;
  #isQueued = false;

  /** `queue` calls `readOn` when it is this connection's turn. */
  constructor(socket: NodeSocket, parser: Parser, queue: () => void) {
    this.#socket = socket;
    this.#parser = parser;
    this.#queue = queue;
    const { kOnExecute } = parser.constructor;
    this.#nodeOnExecute = parser[kOnExecute] as (result: Executed) => void;
    parser[kOnExecute] = (result) => this.#onExecuted(result);
    // Node reads on once it has sent enough. What was read already comes first.
    socket.prependListener('resume', () => {
      if (this.isStopped) allowReading(socket, false);
    });
  }

  /** Whether the parser waits, with something that was read. */
  get isStopped(): boolean {
    return this.#rest !== undefined;
  }

  /** The last response that Node made and that is not handed to the kernel yet. */
  get lastUnsent(): NodeResponse | undefined {
    return this.#unsent.at(-1);
  }

  /** Counts a response until it is handed to the kernel, or cannot be any more. */
  track(response: NodeResponse): void {
    this.#unsent.push(response);
    response.once('close', () => {
      this.#unsent.splice(this.#unsent.indexOf(response), 1);
      this.#readOnSoon();
    });
  }

  /**
   * Calls `handle` for a request that is there before the answer to the one before: at the connection's turn, and only
   * when there is room for answers. Gives what the parser is told.
   */
  admit(handle: () => void): number {
    if (this.#isTurn && !this.#isFull(MOST_UNSENT)) {
      handle();
      return 0;
    }
    this.#postponed = handle;
    this.#isStopping = true;
    return PAUSED;
  }

  /** The parser may stop behind `request`, which asks for another protocol, and leave the rest unread. */
  mayStopBehind(request: IncomingMessage): void {
    this.#upgrade = request;
  }

  /** Forgets what was read but not handled. */
  drop(): void {
    this.#rest = undefined;
    this.#postponed = undefined;
  }

  /** Parses the rest of the last read while there is room for answers. Then the socket reads again. */
  readOn(): void {
    this.#isQueued = false;
    const rest = this.#rest;
    const postponed = this.#postponed;
    this.drop();
    if (rest === undefined || this.#socket.destroyed) return;
    allowReading(this.#socket, true);
    this.#isTurn = true;
    postponed?.();
    this.#parser.resume();
    this.#onExecuted(this.#parser.execute(rest), rest);
    this.#isTurn = false;
    if (!this.isStopped && mayRead(this.#socket)) this.#socket.resume();
  }

  #isFull(limit: number): boolean {
    if (this.#unsent.length >= limit) return true;
    let bytes = 0;
    for (const { writableLength } of this.#unsent) bytes += writableLength;
    return bytes > MOST_UNSENT_BYTES;
  }

  /** `bytes` are what was parsed, unless the parser took them from the socket by itself. */
  #onExecuted(result: Executed, bytes?: Buffer): void {
    const rest = this.#restBehind(result, bytes);
    this.#isStopping = false;
    if (this.#upgrade?.complete === true) this.#upgrade = undefined;
    if (rest === undefined) {
      this.#nodeOnExecute(result);
      return;
    }
    // A slice keeps all the bytes it was cut from.
    this.#rest = rest.length < rest.buffer.byteLength / 2 ? Buffer.from(rest) : rest;
    allowReading(this.#socket, false);
    this.#socket.pause();
    this.#readOnSoon();
  }

  /** What the parser left unread, when it has stopped before the end of `bytes`. */
  #restBehind(result: Executed, bytes?: Buffer): Buffer | undefined {
    if (typeof result !== 'number') {
      return this.#isStopping
        ? (bytes ?? this.#parser.getCurrentBuffer()).subarray(result.bytesParsed)
        : undefined;
    }
    if (!this.#isStopping && this.#upgrade === undefined) return undefined;
    const rest = (bytes ?? this.#parser.getCurrentBuffer()).subarray(result);
    return this.#isStopping || rest.length > 0 ? rest : undefined;
  }

  #readOnSoon(): void {
    if (!this.isStopped || this.#isQueued || this.#isFull(FEW_UNSENT + 1)) return;
    this.#isQueued = true;
    this.#queue();
  }
}
