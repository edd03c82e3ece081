import { connect, type Socket } from 'node:net';

const BUFFER_SIZE = 65_536;

/** A keep-alive connection with at most one request under way. An error on it ends the process. */
export class PacedConnection {
  readonly opened: Promise<void>;
  readonly #socket: Socket;
  readonly #onAnswer: (status: number, request: number) => void;
  #request = -1;
  #received = '';

  /** `onAnswer` hears of each whole answer: its status, and the number under which the request was sent. */
  constructor(port: number, onAnswer: (status: number, request: number) => void) {
    this.#onAnswer = onAnswer;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.opened = promise;
    const onread = {
      buffer: Buffer.allocUnsafe(BUFFER_SIZE),
      callback: (length: number, buffer: Uint8Array) => {
        this.#read((buffer as Buffer).toString('latin1', 0, length));
        return true;
      },
    };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread }, resolve);
    this.#socket.on('close', () => {
      throw new Error('The server closed a connection.');
    });
  }

  send(bytes: Buffer, request: number): void {
    this.#request = request;
    this.#socket.write(bytes);
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const head = this.#received.indexOf('\r\n\r\n');
    if (head === -1) return;
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(this.#received) ?? [];
    if (length === undefined) throw new Error('An answer does not tell its length.');
    if (this.#received.length < head + 4 + Number(length)) return;
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    this.#onAnswer(status, this.#request);
  }
}
