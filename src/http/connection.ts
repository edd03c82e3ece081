import type { IncomingHttpHeaders } from 'node:http';
import { DirectResponse, type Wire } from './direct-response.ts';
import type { Fields } from './fields.ts';
import { allowReading, hasNodeResponse, mayRead, type NodeSocket, type Parser } from './node-connection.ts';
import { IncomingMessage } from './node-http.ts';
import { ReadAhead } from './read-ahead.ts';
import type { Reply } from './reply.ts';
import { hasBody, isRead, isUsual } from './request-kind.ts';
import type { NodeResponse, Response } from './response.ts';

/** The header fields of a request that cannot be read. `null` is the origin of a browser that does not tell its own. */
const UNREADABLE: IncomingHttpHeaders = { origin: 'null' };

/** What all connections of a server share. */
export interface Shared {
  readonly standingFields: Fields;
  /** Milliseconds that a connection may be idle. */
  readonly idleTimeout: number;
  /** Milliseconds that a request may take to arrive. */
  readonly requestTimeout: number;
  /** Milliseconds that the client has to close its side once the service has closed its own. */
  readonly lingerTimeout: number;
  /** Answers the request, with `refusal` if the HTTP layer refuses it. */
  handle(request: IncomingMessage, response: Response, refusal?: Reply): void;
  /** Answers a request whose body does not arrive as it should. False when it is answered already. */
  interrupt(request: IncomingMessage, refusal: Reply): boolean;
  /** Calls `tell` and returns the response that Node makes during the call. Nothing handles it yet. */
  responseMadeBy(tell: () => void): NodeResponse;
  /** Closes the connection later if its client takes none of its answers. */
  watch(connection: Connection): void;
  /** Calls `connection.readOn` when it is its turn. */
  queue(connection: Connection): void;
}

/** A connection. Node reads its requests; a usual one gets a `DirectResponse`, any other the response that Node makes. */
export class Connection implements Wire {
  readonly socket: NodeSocket;
  readonly #shared: Shared;
  readonly #parser: Parser;
  readonly #readAhead: ReadAhead;
  readonly #tellNode: Parser['onIncoming'];
  #direct: DirectResponse | undefined;
  /** How many requests have arrived, each at least with its header block. */
  #begun = 0;
  /** Runs while a request is late that the service did not read. */
  #lateTimer: NodeJS.Timeout | undefined;
  #isRefusing = false;
  #isEnding = false;

  constructor(socket: NodeSocket, parser: Parser, shared: Shared) {
    this.socket = socket;
    this.#shared = shared;
    this.#parser = parser;
    this.#readAhead = new ReadAhead(socket, parser, () => shared.queue(this));
    this.#tellNode = parser.onIncoming;
    parser.onIncoming = (request, keepAlive) => this.#onIncoming(request, keepAlive);
    socket.on('close', () => {
      clearTimeout(this.#lateTimer);
      // As Node does with requests that it knows of.
      this.#direct?.request.destroy();
    });
    // Node ends a connection whose client has ended its side, unless an answer that Node knows of is due.
    socket.prependListener('end', () => this.#direct?.nodeResponse());
    // Node calls it behind the last answer.
    socket.destroySoon = () => this.#end();
  }

  get standingFields(): Fields {
    return this.#shared.standingFields;
  }

  /** Whether a request was read and is not answered yet. */
  get isWaiting(): boolean {
    return this.#direct !== undefined || hasNodeResponse(this.socket);
  }

  /** Whether answers wait in this process until the client takes them, or the connection is about to end. */
  get isBusy(): boolean {
    if (this.socket.destroyed) return false;
    return this.#isEnding || this.#readAhead.lastUnsent !== undefined || this.socket.writableLength > 0;
  }

  #onIncoming(request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean): number {
    this.#begun++;
    if (this.#isRefusing || this.#isEnding) {
      request.resume();
      return 0;
    }
    if (request.upgrade === true && request.method !== 'CONNECT') this.#readAhead.mayStopBehind(request);
    if (this.#direct !== undefined || !isFree(this.socket)) {
      return this.#readAhead.admit(() => this.#handle(request, keepAlive));
    }
    this.#handle(request, keepAlive);
    return 0;
  }

  #handle(request: IncomingMessage, keepAlive: boolean): void {
    if (isLast(this.#readAhead.lastUnsent)) {
      // Its answer would never be sent.
      request.resume();
      return;
    }
    // Node keeps responses in their order, once it knows of them.
    this.#direct?.nodeResponse();
    if (!keepAlive || !isUsual(request) || !isFree(this.socket)) {
      this.#tellNode(request, keepAlive);
      return;
    }
    if (!hasBody(request)) {
      // It ends here: there is nothing for a stream to do.
      request.complete = true;
      this.#parser.incoming = null;
    }
    this.#direct = new DirectResponse(this, request);
    this.#shared.handle(request, this.#direct);
  }

  /** Node has made a response to a request of this connection. */
  track(response: NodeResponse): void {
    const before = this.#readAhead.lastUnsent;
    if (before !== undefined) before.isFollowed = true;
    this.#readAhead.track(response);
    this.#shared.watch(this);
  }

  /** Parses the rest of the last read while there is room for answers. Then the socket reads again. */
  readOn(): void {
    this.#readAhead.readOn();
  }

  /** A request takes too long to arrive. While the service does not read, that is not the client's fault. */
  refuseLate(refusal: Reply): void {
    if (this.#isReading) this.refuse(refusal);
    else this.#giveTime(this.#arriving, refusal);
  }

  /** Gives a request its time again until the service reads, and then once more, because Node reports it only once. */
  #giveTime(request: number, refusal: Reply, wasReading = false): void {
    this.#lateTimer = setTimeout(() => {
      if (this.#arriving !== request) return;
      if (wasReading) this.refuse(refusal);
      else this.#giveTime(request, refusal, this.#isReading);
    }, this.#shared.requestTimeout).unref();
  }

  get #isReading(): boolean {
    return mayRead(this.socket) && !this.#readAhead.isStopped;
  }

  /** The number of the request that is arriving, or arrives next. */
  get #arriving(): number {
    return isRead(this.#parser.incoming) ? this.#begun + 1 : this.#begun;
  }

  /** Answers what cannot be read with `refusal`, behind the answers to all before it, and ends the connection. */
  refuse(refusal: Reply, headers = UNREADABLE): void {
    if (this.#isRefusing || this.#isEnding) return;
    this.#isRefusing = true;
    const { socket } = this;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const unread = socket.parser?.incoming ?? null;
    if (!isRead(unread)) {
      // Whoever waits for the body learns that it does not come.
      socket.once('close', () => unread.destroy());
      if (!this.#shared.interrupt(unread, refusal)) this.#endWhenSent();
      return;
    }
    this.#direct?.nodeResponse();
    const request = new IncomingMessage(socket);
    request.httpVersion = '1.1';
    request.method = '';
    request.url = '*';
    request.headers = headers;
    request.complete = true;
    request.push(null);
    const response = this.#shared.responseMadeBy(() => this.#tellNode(request, false));
    this.#shared.handle(request, response, refusal);
  }

  #endWhenSent(): void {
    const last = this.#readAhead.lastUnsent;
    if (last === undefined) this.#end();
    else last.once('close', () => this.#end());
  }

  /**
   * Closes the service's side once all is sent, and drops what the client still sends. To close the socket at once
   * would make the kernel drop answers that the client has not taken yet (RFC 9112, section 9.6).
   */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#readAhead.drop();
    const { socket } = this;
    allowReading(socket, true);
    // Node may have stopped the connection's reading without a pause.
    socket.pause().resume();
    this.#shared.watch(this);
    socket.end(() => {
      // Not the socket's own timeout, which each byte that still comes puts off.
      const timer = setTimeout(() => socket.destroy(), this.#shared.lingerTimeout).unref();
      socket.once('close', () => clearTimeout(timer));
    });
  }

  release(request: IncomingMessage): void {
    this.#direct = undefined;
    // An idle connection keeps no request.
    if (request.complete) this.#forget(request);
    else request.once('end', () => this.#forget(request));
  }

  written(): void {
    const { socket } = this;
    if (socket.writableLength > 0) this.#shared.watch(this);
    // Once for each connection, as a rule; what is read and written puts it off.
    if (socket.timeout !== this.#shared.idleTimeout) socket.setTimeout(this.#shared.idleTimeout);
  }

  #forget(request: IncomingMessage): void {
    if (this.#parser.incoming === request) this.#parser.incoming = null;
  }

  nodeResponse(request: IncomingMessage): NodeResponse {
    this.#direct = undefined;
    return this.#shared.responseMadeBy(() => this.#tellNode(request, true));
  }
}

/** Whether the connection ends behind this response. */
function isLast(response: NodeResponse | undefined): boolean {
  return response?.headersSent === true && !response.shouldKeepAlive;
}

/** Whether everything that was sent before is on its way. */
function isFree(socket: NodeSocket): boolean {
  return !hasNodeResponse(socket) && socket.writableLength === 0;
}
