import {
  allowReading,
  type Executed,
  type IncomingMessage,
  mayRead,
  type NodeSocket,
  PAUSED,
  type Parser,
} from './node.ts';

/**
 * Lets a connection handle one request at a time. The parser stops at the next request, even in the middle of what was
 * read, and the socket reads no more until then. One read holds up to 64 KiB, which can be more than a thousand requests.
 */
export class ReadAhead {
  readonly #socket: NodeSocket;
  readonly #parser: Parser;
  readonly #nodeOnExecute: (result: Executed) => void;
  #isStopping = false;
  /** Handles the request at which the parser stopped. */
  #postponed: (() => void) | undefined;
  #upgrade: IncomingMessage | undefined;
  /** The bytes after the request at which the parser stopped. */
  #rest: Buffer | undefined;

  readonly #whenExecuted: () => void;

  /** `whenExecuted` is called each time the parser has parsed what was read, or has stopped. */
  constructor(socket: NodeSocket, parser: Parser, whenExecuted: () => void) {
    this.#socket = socket;
    this.#parser = parser;
    const { kOnExecute } = parser.constructor;
    this.#nodeOnExecute = parser[kOnExecute] as (result: Executed) => void;
    this.#whenExecuted = whenExecuted;
    parser[kOnExecute] = (result) => this.#onExecuted(result);
    // Node resumes the socket when it has sent enough. The rest of the last read comes first.
    socket.prependListener('resume', () => {
      if (this.isStopped) allowReading(socket, false);
    });
  }

  /** Whether the parser has stopped in the middle of a read. */
  get isStopped(): boolean {
    return this.#rest !== undefined;
  }

  /**
   * Stops the parser at a request, which `handle` will handle later. Returns the value that tells the parser to stop.
   */
  stopAt(handle: () => void): number {
    this.#postponed = handle;
    this.#isStopping = true;
    return PAUSED;
  }

  /**
   * `request` asks for another protocol, so the parser may stop after it and leave the rest unread. Node reports no fault of its
   * body.
   */
  mayStopBehind(request: IncomingMessage): void {
    this.#upgrade = request;
  }

  /** The client has ended its side. */
  end(): void {
    if (this.#upgrade?.complete === false && !this.isStopped)
      this.#nodeOnExecute(parseError('HPE_INVALID_EOF_STATE'));
  }

  /** Forgets what was read but not handled. */
  drop(): void {
    this.#rest = undefined;
    this.#postponed = undefined;
  }

  /** Handles the request at which the parser stopped, and parses on. When nothing is left, the socket reads again. */
  readOn(): void {
    const rest = this.#rest;
    const postponed = this.#postponed;
    this.drop();
    if (rest === undefined || this.#socket.destroyed) return;
    allowReading(this.#socket, true);
    postponed?.();
    this.#parser.resume();
    this.#onExecuted(this.#parser.execute(rest), rest);
    if (!this.isStopped && mayRead(this.#socket)) this.#socket.resume();
  }

  /** `bytes` are what was parsed, unless the parser took them from the socket by itself. */
  #onExecuted(result: Executed, bytes?: Buffer): void {
    const rest = this.#restBehind(result, bytes);
    // The parser has stopped in the middle of the request, so it cannot go on.
    const isBroken = !this.#isStopping && rest !== undefined && this.#upgrade?.complete === false;
    this.#isStopping = false;
    if (this.#upgrade?.complete === true) this.#upgrade = undefined;
    if (isBroken) this.#nodeOnExecute(parseError('HPE_INVALID_CHUNK_SIZE'));
    else if (rest === undefined) this.#nodeOnExecute(result);
    else {
      this.#rest = rest;
      allowReading(this.#socket, false);
      this.#socket.pause();
    }
    this.#whenExecuted();
  }

  /** The bytes that the parser left when it stopped before the end of `bytes`. */
  #restBehind(result: Executed, bytes?: Buffer): Buffer | undefined {
    if (!this.#isStopping && (this.#upgrade === undefined || typeof result !== 'number')) {
      if (bytes !== undefined) free(bytes);
      return undefined;
    }
    const whole = bytes ?? this.#parser.getCurrentBuffer();
    const rest = whole.subarray(typeof result === 'number' ? result : result.bytesParsed);
    if (rest.length > whole.buffer.byteLength / 2) return rest;
    // A slice keeps all the bytes it was cut from.
    const copy = Buffer.allocUnsafeSlow(rest.length);
    rest.copy(copy);
    free(whole);
    return this.#isStopping || copy.length > 0 ? copy : undefined;
  }
}

/** What Node would report. */
function parseError(code: string): Executed {
  return Object.assign(new Error('Parse Error'), { code, bytesParsed: 0 });
}

/** Frees the memory of bytes at once. The collector of V8 would let 100 MiB of them pile up. */
function free(bytes: Buffer): void {
  (bytes.buffer as ArrayBuffer).transfer(0);
}
