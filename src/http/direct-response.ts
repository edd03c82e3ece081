import type { Socket } from 'node:net';
import { type Fields, STATUS_LINES } from './fields.ts';
import type { IncomingMessage } from './node-http.ts';
import type { Octets } from './octets.ts';
import type { NodeResponse, Response } from './response.ts';

/** What a direct response needs of its connection. */
export interface Wire {
  readonly socket: Socket;
  /** The header fields that every response carries. */
  readonly standingFields: Fields;
  /** The direct response to `request` is about to be written. */
  release(request: IncomingMessage): void;
  /** The direct response is written. */
  written(): void;
  /** Tells Node of the request that has a direct response, and returns the response that Node makes. */
  nodeResponse(request: IncomingMessage): NodeResponse;
}

/**
 * A response that is one text, head and body, written straight on the socket (docs/decisions/0016). Node does not know
 * of its request. When the response turns out to be unusual, Node is told after all, and Node's response is used.
 */
export class DirectResponse implements Response {
  readonly request: IncomingMessage;
  shouldKeepAlive = true;
  headersSent = false;
  readonly #wire: Wire;
  #nodeResponse: NodeResponse | undefined;

  constructor(wire: Wire, request: IncomingMessage) {
    this.#wire = wire;
    this.request = request;
  }

  get destroyed(): boolean {
    return this.#nodeResponse?.destroyed ?? !this.#wire.socket.writable;
  }

  get isFollowed(): boolean {
    return this.#nodeResponse?.isFollowed ?? false;
  }

  send(status: number, text: Fields, body: Octets | Buffer | undefined): void {
    this.headersSent = true;
    const wire = this.#wire;
    if (wire.socket.destroyed) return;
    if (this.#nodeResponse !== undefined || !this.shouldKeepAlive || !isOneText(status, body)) {
      const response = this.nodeResponse();
      response.shouldKeepAlive &&= this.shouldKeepAlive;
      response.send(status, text, body);
      return;
    }
    wire.release(this.request);
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    wire.socket.write(
      `${STATUS_LINES[status]}${text}${wire.standingFields}${length}\r\n${body ?? ''}`,
      'latin1',
    );
    wire.written();
  }

  destroy(): void {
    this.#wire.socket.destroy();
  }

  /** Node's response in place of this one. */
  nodeResponse(): NodeResponse {
    this.#nodeResponse ??= this.#wire.nodeResponse(this.request);
    return this.#nodeResponse;
  }
}

/** Bytes are no text; and where a body and the status do not go together, Node knows what to say. */
function isOneText(status: number, body: Octets | Buffer | undefined): body is Octets | undefined {
  const takesBody = status !== 204 && status !== 304;
  return takesBody ? typeof body === 'string' : body === undefined;
}
