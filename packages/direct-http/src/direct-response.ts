import type { Socket } from 'node:net';
import { type IncomingMessage, STATUS_CODES } from './node.ts';
import type { NodeResponse, ResponseWriter } from './response.ts';
import { type Fields, fields, NO_FIELDS, type Octets } from './text.ts';

/**
 * Whether a request may get a direct response: it asks for nothing but a plain response over HTTP/1.1. `keepAlive` is false
 * for the last request of a connection.
 */
export function isDirect(request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean): boolean {
  const { httpVersion, method, headers, upgrade } = request;
  const isPlain =
    httpVersion === '1.1' && method !== 'HEAD' && headers.expect === undefined && upgrade !== true;
  return keepAlive && isPlain;
}

/** The header fields that every response carries. They are made once a second, because one is the date. */
export class StandingFields {
  readonly #keepAlive: string;
  #second = Number.NaN;
  #fields = NO_FIELDS;

  /** In milliseconds. */
  constructor(keepAliveTimeout: number) {
    this.#keepAlive = `timeout=${Math.floor(keepAliveTimeout / 1000)}`;
  }

  now(): Fields {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      const date = new Date(second * 1000).toUTCString();
      this.#fields = fields('Date', date, 'Connection', 'keep-alive', 'Keep-Alive', this.#keepAlive);
    }
    return this.#fields;
  }
}

/** What a direct response needs of its connection. */
export interface ResponseConnection {
  readonly socket: Socket;
  readonly standing: StandingFields;
  /** Whether another request of the connection waits. */
  readonly isFollowed: boolean;
  /** The direct response to `request` is about to be written. */
  release(request: IncomingMessage): void;
  /** The direct response is written. */
  written(): void;
  /** Hands the request to Node, and returns the response that Node makes. */
  nodeResponse(request: IncomingMessage): NodeResponse;
}

/**
 * A response that goes to the socket as one string, head and body. Node does not know of its
 * request. When the response turns out to need more than that, the request is handed to Node after all.
 */
export class DirectResponse implements ResponseWriter {
  readonly request: IncomingMessage;
  shouldKeepAlive = true;
  headersSent = false;
  readonly #connection: ResponseConnection;
  #nodeResponse: NodeResponse | undefined;

  constructor(connection: ResponseConnection, request: IncomingMessage) {
    this.#connection = connection;
    this.request = request;
  }

  get destroyed(): boolean {
    return this.#nodeResponse?.destroyed ?? !this.#connection.socket.writable;
  }

  get isFollowed(): boolean {
    return this.#connection.isFollowed;
  }

  send(status: number, headers: Fields, body: Octets | Buffer | undefined): void {
    this.headersSent = true;
    const connection = this.#connection;
    if (connection.socket.destroyed) return;
    if (this.#nodeResponse !== undefined || !this.shouldKeepAlive || !isOneString(status, body)) {
      const response = this.nodeResponse();
      response.shouldKeepAlive &&= this.shouldKeepAlive;
      response.send(status, headers, body);
      return;
    }
    connection.release(this.request);
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    connection.socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}${connection.standing.now()}${length}\r\n${body ?? ''}`,
      'latin1',
    );
    connection.written();
  }

  destroy(): void {
    this.#connection.socket.destroy();
  }

  /** Returns the response of Node that replaces this one. */
  nodeResponse(): NodeResponse {
    this.#nodeResponse ??= this.#connection.nodeResponse(this.request);
    return this.#nodeResponse;
  }
}

/** Whether status and body go together, and the body is a string. Node knows what to send in all other cases. */
function isOneString(status: number, body: Octets | Buffer | undefined): body is Octets | undefined {
  const takesBody = status !== 204 && status !== 304;
  return takesBody ? typeof body === 'string' : body === undefined;
}
