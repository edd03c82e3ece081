import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { type IncomingMessage, isRead, STATUS_CODES, unreadableRequest } from './node.ts';
import type { Handlers, NodeResponse, ResponseWriter } from './response.ts';
import type { Fields, Octets } from './text.ts';
import type { ConnectionTimes, RefusingConnection, Server, Wire } from './wire.ts';

/** The connections of a server that is left to Node. It uses only what Node documents. */
export class PlainConnections<Refusal> implements Wire<Refusal> {
  readonly #times: ConnectionTimes;
  readonly #handlers: Handlers<Refusal>;
  readonly #connections = new WeakMap<Socket, PlainConnection<Refusal>>();
  /** Connections with a request that has no answer yet, and those that are about to end. */
  readonly #busy = new Set<PlainConnection<Refusal>>();

  constructor(server: Server, times: ConnectionTimes, handlers: Handlers<Refusal>) {
    this.#times = times;
    this.#handlers = handlers;
    server.on('request', (request, response) => {
      this.of(request.socket).handle(request, response);
    });
  }

  get isBusy(): boolean {
    return this.#busy.size > 0;
  }

  track(request: IncomingMessage, response: NodeResponse): void {
    this.of(request.socket).track(request, response);
  }

  queue(task: () => void): void {
    setImmediate(task);
  }

  of(socket: Socket): PlainConnection<Refusal> {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = new PlainConnection(socket, this.#times.lingerTimeout, this.#handlers, this.#busy);
    this.#connections.set(socket, connection);
    return connection;
  }
}

class PlainConnection<Refusal> implements RefusingConnection<Refusal> {
  readonly #socket: Socket;
  readonly #lingerTimeout: number;
  readonly #handlers: Handlers<Refusal>;
  readonly #busy: Set<PlainConnection<Refusal>>;
  /** Responses that are not sent yet. */
  readonly #open = new Set<NodeResponse>();
  /** The last request whose header block arrived. */
  #last: IncomingMessage | undefined;
  /** Handle the requests that wait for the answer before them. */
  readonly #waiting: (() => unknown)[] = [];
  #isRefusing = false;
  /** Sends the refusal once no response is open. */
  #refuseNow: (() => void) | undefined;

  constructor(
    socket: Socket,
    lingerTimeout: number,
    handlers: Handlers<Refusal>,
    busy: Set<PlainConnection<Refusal>>,
  ) {
    this.#socket = socket;
    this.#lingerTimeout = lingerTimeout;
    this.#handlers = handlers;
    this.#busy = busy;
    socket.once('close', () => busy.delete(this));
  }

  /** Handles a request once those before it are answered, so that pipelined changes happen in their order. */
  handle(request: IncomingMessage, response: NodeResponse): void {
    const isFirst = this.#open.size === 0;
    this.track(request, response);
    if (isFirst) this.#handlers.handle(request, response);
    else this.#waiting.push(() => this.#handlers.handle(request, response));
  }

  track(request: IncomingMessage, response: NodeResponse): void {
    this.#last = request;
    this.#open.add(response);
    this.#busy.add(this);
    response.once('close', () => {
      this.#open.delete(response);
      this.#waiting.shift()?.();
      if (this.#open.size > 0) return;
      if (!this.#isRefusing) this.#busy.delete(this);
      this.#refuseNow?.();
    });
  }

  refuse(refusal: Refusal, headers?: IncomingHttpHeaders): void {
    if (this.#isRefusing) return;
    this.#isRefusing = true;
    const socket = this.#socket;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    this.#busy.add(this);
    const unread = this.#last ?? null;
    if (isRead(unread))
      this.#refuseNow = () => {
        const response = new RefusalResponse(socket, () => this.#linger());
        this.#handlers.handle(unreadableRequest(socket, headers), response, refusal);
      };
    else {
      // The reader of the body gets an error.
      socket.once('close', () => unread.destroy());
      const interrupt = () => this.#handlers.interrupt(unread, refusal);
      const handle = this.#waiting.pop();
      if (handle === undefined) interrupt();
      else
        this.#waiting.push(() => {
          handle();
          interrupt();
        });
      this.#refuseNow = () => {
        socket.end();
        this.#linger();
      };
    }
    if (this.#open.size === 0) this.#refuseNow();
  }

  /** Node alone knows whether it was reading. */
  refuseLate(refusal: Refusal): void {
    this.refuse(refusal);
  }

  /** Drops what the client still sends, until it closes its side. */
  #linger(): void {
    const timer = setTimeout(() => this.#socket.destroy(), this.#lingerTimeout).unref();
    this.#socket.once('close', () => clearTimeout(timer)).resume();
  }
}

/** The last answer of a connection, to something that is not a readable request. Node makes no response for it. */
class RefusalResponse implements ResponseWriter {
  headersSent = false;
  shouldKeepAlive = false;
  readonly isFollowed = false;
  readonly #socket: Socket;
  readonly #whenSent: () => void;

  constructor(socket: Socket, whenSent: () => void) {
    this.#socket = socket;
    this.#whenSent = whenSent;
  }

  get destroyed(): boolean {
    return !this.#socket.writable;
  }

  send(status: number, headers: Fields, body: Octets | Buffer | undefined): void {
    this.headersSent = true;
    const date = new Date().toUTCString();
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}Date: ${date}\r\nConnection: close\r\n${length}\r\n`;
    this.#socket.end(head + (body?.toString('latin1') ?? ''), 'latin1');
    this.#whenSent();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
