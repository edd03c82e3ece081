import type { Server as NodeServer } from 'node:http';
import type { Socket } from 'node:net';
import { Connection, type Shared } from './connection.ts';
import { type Fields, httpDate } from './fields.ts';
import { bytesTaken, type NodeSocket } from './node-connection.ts';
import type { IncomingMessage } from './node-http.ts';
import type { NodeResponse } from './response.ts';

export type Server = NodeServer<typeof IncomingMessage, typeof NodeResponse>;

/** Times in milliseconds. */
export interface ConnectionTimes {
  /** How long a client may take nothing of an answer. */
  readonly sendTimeout: number;
  readonly lingerTimeout: number;
  /** How often `sendTimeout` is looked at. */
  readonly checkingInterval: number;
}

/** Connections that read on in one turn of the event loop. The others wait, so none holds up the rest for long. */
const READING_AT_ONCE = 8;

/** Lets `handlers` answer the requests of a server, over connections that are limited. */
export function readRequests(
  server: Server,
  times: ConnectionTimes,
  handlers: Pick<Shared, 'handle' | 'interrupt'>,
): Connections {
  return new Connections(server, times, handlers);
}

/** The connections of a server. Each request reaches `handle` with its response. */
export class Connections implements Shared {
  readonly idleTimeout: number;
  readonly requestTimeout: number;
  readonly lingerTimeout: number;
  readonly handle: Shared['handle'];
  readonly interrupt: Shared['interrupt'];
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #keepAlive: Fields;
  #date = '';
  #standingFields: Fields = '';
  #isTelling = false;
  #told: NodeResponse | undefined;
  readonly #queue: Connection[] = [];
  /** Connections whose answers wait for the client: bytes taken so far, and when that was last seen to change. */
  readonly #watched = new Map<Connection, { taken: number; since: number }>();

  constructor(
    server: Server,
    times: ConnectionTimes,
    { handle, interrupt }: Pick<Shared, 'handle' | 'interrupt'>,
  ) {
    const { keepAliveTimeout, keepAliveTimeoutBuffer, requestTimeout } = server;
    this.idleTimeout = keepAliveTimeout + keepAliveTimeoutBuffer;
    this.requestTimeout = requestTimeout;
    this.lingerTimeout = times.lingerTimeout;
    this.handle = handle;
    this.interrupt = interrupt;
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1000)}\r\n`;
    // A client that has ended its side still gets its answers. Node does not document this property.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket) => {
      const { parser } = socket as NodeSocket;
      if (parser !== null) this.#connections.set(socket, new Connection(socket as NodeSocket, parser, this));
    });
    server.on('request', (request, response) => {
      this.track(request, response);
      if (this.#isTelling) this.#told = response;
      else handle(request, response);
    });
    server.on('timeout', (socket) => {
      if (this.of(socket)?.isWaiting !== true) socket.destroy();
    });
    const timer = setInterval(() => this.#endStalled(times.sendTimeout), times.checkingInterval);
    timer.unref();
    server.on('close', () => clearInterval(timer));
  }

  /** Node has made a response to a request. */
  track({ socket }: IncomingMessage, response: NodeResponse): void {
    this.of(socket)?.track(response);
  }

  of(socket: Socket): Connection | undefined {
    return this.#connections.get(socket);
  }

  /** Whether answers wait for their clients, or connections are about to end. */
  get areBusy(): boolean {
    return this.#watched.keys().some(({ isBusy }) => isBusy);
  }

  /** The header fields that every response carries, made once a second. */
  get standingFields(): Fields {
    const date = httpDate(Date.now());
    if (date !== this.#date) {
      this.#date = date;
      this.#standingFields = `Date: ${date}\r\n${this.#keepAlive}`;
    }
    return this.#standingFields;
  }

  responseMadeBy(tell: () => void): NodeResponse {
    this.#isTelling = true;
    try {
      tell();
    } finally {
      this.#isTelling = false;
    }
    const response = this.#told;
    this.#told = undefined;
    if (response === undefined) throw new Error('Node made no response to a request.');
    return response;
  }

  queue(connection: Connection): void {
    if (this.#queue.push(connection) === 1) setImmediate(() => this.#readOn());
  }

  #readOn(): void {
    const now = this.#queue.slice(0, READING_AT_ONCE);
    for (const connection of now) connection.readOn();
    this.#queue.splice(0, now.length);
    if (this.#queue.length > 0) setImmediate(() => this.#readOn());
  }

  watch(connection: Connection): void {
    if (!this.#watched.has(connection)) this.#watched.set(connection, { taken: -1, since: 0 });
  }

  /** Ends the connections whose clients took nothing for `patience` milliseconds while answers waited. */
  #endStalled(patience: number): void {
    const now = performance.now();
    for (const [connection, watched] of this.#watched) {
      const { socket } = connection;
      if (!connection.isBusy) {
        this.#watched.delete(connection);
        continue;
      }
      const taken = bytesTaken(socket);
      // While an answer is still being made, there is nothing for the client to take.
      if (taken !== watched.taken || socket.writableLength === 0) {
        watched.taken = taken;
        watched.since = now;
      } else if (now - watched.since >= patience) socket.destroy();
    }
  }
}
