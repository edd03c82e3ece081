import type { Socket } from 'node:net';
import { Connection, type Shared, type Watched } from './connection.ts';
import { StandingFields } from './direct-response.ts';
import { bytesTaken, type IncomingMessage, type NodeSocket } from './node.ts';
import type { Handlers, NodeResponse } from './response.ts';
import type { ConnectionTimes, Server } from './server.ts';

/** Connections that go on, or end, in one turn of the event loop. The others wait, so none holds up the rest for long. */
const CONNECTIONS_A_TURN = 64;

/** Turns in a row that only accept connections. So clients that connect all the time cannot stop the others. */
const SKIPPED_TURNS_MAX = 1_000;

/** The connections of a server, and what the program can do with them. Each request reaches `handle` with its response. */
export class Connections<Refusal> implements Shared<Refusal> {
  readonly idleTimeout: number;
  readonly requestTimeout: number;
  readonly lingerTimeout: number;
  readonly standing: StandingFields;
  readonly handle: Handlers<Refusal>['handle'];
  readonly interrupt: Handlers<Refusal>['interrupt'];
  readonly #connections = new WeakMap<Socket, Connection<Refusal>>();
  #isAnnouncing = false;
  #announced: NodeResponse | undefined;
  readonly #queue: (() => void)[] = [];
  /** Node accepts one connection in each turn of the event loop. Turns must be short when many arrive at once. */
  #hasAccepted = false;
  #skippedTurns = 0;
  /** Connections whose answers wait for the client: bytes taken so far, and when that number last changed. */
  readonly #watched = new Map<Watched, { taken: number; since: number }>();

  constructor(server: Server, times: ConnectionTimes, { handle, interrupt }: Handlers<Refusal>) {
    const { keepAliveTimeout, keepAliveTimeoutBuffer, requestTimeout } = server;
    this.idleTimeout = keepAliveTimeout + keepAliveTimeoutBuffer;
    this.requestTimeout = requestTimeout;
    this.lingerTimeout = times.lingerTimeout;
    this.handle = handle;
    this.interrupt = interrupt;
    this.standing = new StandingFields(keepAliveTimeout);
    // A client that has ended its side still gets its answers. Node does not document this property.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket) => {
      this.#hasAccepted = true;
      const { parser } = socket as NodeSocket;
      if (parser !== null) this.#connections.set(socket, new Connection(socket as NodeSocket, parser, this));
    });
    server.on('request', (request, response) => {
      this.track(request, response);
      if (this.#isAnnouncing) this.#announced = response;
      else handle(request, response);
    });
    server.on('timeout', (socket) => {
      if (this.of(socket)?.isWaiting !== true) socket.destroy();
    });
    const timer = setInterval(() => this.#endStalled(times.sendTimeout), times.checkingInterval);
    timer.unref();
    server.on('close', () => clearInterval(timer));
  }

  /** Counts a response that Node emitted with another event than `request`. */
  track({ socket }: IncomingMessage, response: NodeResponse): void {
    this.of(socket)?.track(response);
  }

  /** The connection over a socket, to refuse what arrives on it. */
  of(socket: Socket): Connection<Refusal> | undefined {
    return this.#connections.get(socket);
  }

  /** Whether answers wait for their clients, or connections are about to end. */
  get isBusy(): boolean {
    return this.#watched.keys().some((connection) => connection.isBusy);
  }

  responseMadeBy(announce: () => void): NodeResponse {
    this.#isAnnouncing = true;
    try {
      announce();
    } finally {
      this.#isAnnouncing = false;
    }
    const response = this.#announced;
    this.#announced = undefined;
    if (response === undefined) throw new Error('Node made no response to a request.');
    return response;
  }

  queue(task: () => void): void {
    if (this.#queue.push(task) === 1) setImmediate(() => this.#readOn());
  }

  #readOn(): void {
    const isBurst = this.#hasAccepted && this.#skippedTurns < SKIPPED_TURNS_MAX;
    this.#skippedTurns = isBurst ? this.#skippedTurns + 1 : 0;
    this.#hasAccepted = false;
    const now = this.#queue.slice(0, isBurst ? 0 : CONNECTIONS_A_TURN);
    for (const task of now) task();
    this.#queue.splice(0, now.length);
    if (this.#queue.length > 0) setImmediate(() => this.#readOn());
  }

  watch(connection: Watched): void {
    if (!this.#watched.has(connection)) this.#watched.set(connection, { taken: -1, since: 0 });
  }

  /** Closes connections whose clients took nothing for `patience` milliseconds while answers waited. */
  #endStalled(patience: number): void {
    const now = performance.now();
    const stalled: Watched[] = [];
    for (const [connection, watched] of this.#watched) {
      const { socket } = connection;
      if (!connection.isBusy) {
        this.#watched.delete(connection);
        continue;
      }
      const taken = bytesTaken(socket);
      // Without bytes to send, the server waits for its own answer, not for the client.
      if (taken !== watched.taken || socket.writableLength === 0) {
        watched.taken = taken;
        watched.since = now;
      } else if (now - watched.since >= patience) stalled.push(connection);
    }
    destroyInTurns(stalled);
  }
}

/** To destroy a connection with unsent bytes takes about 0.3 ms, so a thousand at once would hold up the event loop. */
function destroyInTurns(connections: readonly Watched[]): void {
  for (const { socket } of connections.slice(0, CONNECTIONS_A_TURN)) socket.destroy();
  if (connections.length > CONNECTIONS_A_TURN)
    setImmediate(() => destroyInTurns(connections.slice(CONNECTIONS_A_TURN)));
}
