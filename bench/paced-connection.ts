import { connect, type Socket } from 'node:net';

const BUFFER_SIZE = 65_536;
const HEAD_END = '\r\n\r\n';
const LENGTH = Buffer.from('Content-Length: ');
const DIGIT_0 = 48;

/** The status follows `HTTP/1.1 `. */
const STATUS_AT = 9;

/**
 * A keep-alive connection that has at most one open request. An error on it ends the process. It reads answers as bytes,
 * because collecting strings would delay the load generator, and the delay would count as latency.
 */
export class PacedConnection {
  readonly opened: Promise<void>;
  readonly #socket: Socket;
  readonly #onAnswer: (status: number, request: number) => void;
  readonly #received = Buffer.allocUnsafe(BUFFER_SIZE);
  #length = 0;
  #request = -1;

  /** Calls `onAnswer` after each complete answer, with its status and the number of its request. */
  constructor(port: number, onAnswer: (status: number, request: number) => void) {
    this.#onAnswer = onAnswer;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.opened = promise;
    const onread = {
      buffer: Buffer.allocUnsafe(BUFFER_SIZE),
      callback: (length: number, buffer: Uint8Array) => {
        this.#received.set(buffer.subarray(0, length), this.#length);
        this.#length += length;
        this.#read();
        return true;
      },
    };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, resolve);
    this.#socket.on('close', () => {
      throw new Error('The server closed a connection.');
    });
  }

  send(bytes: Buffer, request: number): void {
    this.#length = 0;
    this.#request = request;
    this.#socket.write(bytes);
  }

  #read(): void {
    const received = this.#received;
    const head = received.indexOf(HEAD_END);
    if (head === -1 || head >= this.#length) return;
    const field = received.indexOf(LENGTH);
    if (field === -1 || field > head) throw new Error('An answer has no Content-Length.');
    if (this.#length < head + HEAD_END.length + this.#number(field + LENGTH.length)) return;
    this.#onAnswer(this.#number(STATUS_AT), this.#request);
  }

  /** The decimal number that begins at `offset`. */
  #number(offset: number): number {
    let number = 0;
    for (let at = offset; ; at++) {
      const digit = (this.#received[at] ?? 0) - DIGIT_0;
      if (digit < 0 || digit > 9) return number;
      number = number * 10 + digit;
    }
  }
}
