import type { IncomingHttpHeaders } from 'node:http';
import { DirectResponse, isDirect, type ResponseConnection, type StandingFields } from './direct-response.ts';
import {
  allowReading,
  hasNodeResponse,
  type IncomingMessage,
  isRead,
  mayRead,
  type NodeSocket,
  type Parser,
  unreadableRequest,
} from './node.ts';
import { ReadAhead } from './read-ahead.ts';
import type { Handlers, NodeResponse } from './response.ts';

/** What all connections of a server share. */
export interface Shared<Refusal> extends Handlers<Refusal> {
  readonly standing: StandingFields;
  /** Milliseconds that a connection may be idle, and that a request may take to arrive. */
  readonly idleTimeout: number;
  readonly requestTimeout: number;
  /** Milliseconds that the client has to close its side once the server has closed its own. */
  readonly lingerTimeout: number;
  /** Calls `announce`, which lets Node make a response, and returns that response. It is not handled yet. */
  responseMadeBy(announce: () => void): NodeResponse;
  /** Closes the connection later if its client takes none of its answers. */
  watch(connection: Watched): void;
  /** Calls `task` when it is its turn. */
  queue(task: () => void): void;
}

/** A connection whose answers wait for the client. */
export interface Watched {
  readonly socket: NodeSocket;
  readonly isBusy: boolean;
}

/** A connection. Node reads its requests. A plain one gets a `DirectResponse`, any other gets Node's response. */
export class Connection<Refusal> implements ResponseConnection, Watched {
  readonly socket: NodeSocket;
  readonly standing: StandingFields;
  readonly #shared: Shared<Refusal>;
  readonly #parser: Parser;
  readonly #readAhead: ReadAhead;
  /** Lets Node make a response to a request and emit `request`. */
  readonly #announce: Parser['onIncoming'];
  #direct: DirectResponse | undefined;
  /** Requests whose header block has arrived. */
  #begun = 0;
  /** Runs while a request is late because the server did not read. */
  #lateTimer: NodeJS.Timeout | undefined;
  /** Runs while only bytes arrive that begin no request. */
  #strayTimer: NodeJS.Timeout | undefined;
  /** Whether the last read left a body unfinished. */
  #isInBody = false;
  /** The last response that Node made, until the kernel has taken it. */
  #lastUnsent: NodeResponse | undefined;
  /** Whether a request was handled since the parser was last given bytes. */
  #hasHandled = false;
  #isQueued = false;
  #isRefusing = false;
  #isEnding = false;

  constructor(socket: NodeSocket, parser: Parser, shared: Shared<Refusal>) {
    this.socket = socket;
    this.standing = shared.standing;
    this.#shared = shared;
    this.#parser = parser;
    this.#readAhead = new ReadAhead(socket, parser, () => this.#onExecuted());
    this.#announce = parser.onIncoming;
    parser.onIncoming = (request, keepAlive) => this.#onIncoming(request, keepAlive);
    socket.on('close', () => {
      clearTimeout(this.#lateTimer);
      clearTimeout(this.#strayTimer);
      this.#direct?.request.destroy();
    });
    // When a client ends its side, Node ends the connection, unless it knows of a request without an answer.
    socket.prependListener('end', () => {
      this.#direct?.nodeResponse();
      this.#readAhead.end();
    });
    // Node calls it after the last answer.
    socket.destroySoon = () => this.#end();
  }

  /** Whether a request has no answer yet. */
  get isWaiting(): boolean {
    return this.#direct !== undefined || hasNodeResponse(this.socket);
  }

  /** Whether requests wait to be handled, answers wait for the client, or the connection is about to end. */
  get isBusy(): boolean {
    if (this.socket.destroyed) return false;
    return this.isFollowed || this.#isEnding || !this.#isSent;
  }

  get isFollowed(): boolean {
    return this.#readAhead.isStopped;
  }

  #onIncoming(request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean): number {
    this.#begun++;
    if (this.#isRefusing || this.#isEnding) {
      request.resume();
      return 0;
    }
    if (request.upgrade === true && request.method !== 'CONNECT') this.#readAhead.mayStopBehind(request);
    if (this.#hasHandled || this.#direct !== undefined || !this.#isSent)
      return this.#readAhead.stopAt(() => this.#handle(request, keepAlive));
    this.#handle(request, keepAlive);
    return 0;
  }

  #handle(request: IncomingMessage, keepAlive: boolean): void {
    this.#hasHandled = true;
    if (!isDirect(request, keepAlive)) {
      this.#announce(request, keepAlive);
      return;
    }
    const { headers } = request;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
      // Without a body, there is nothing to stream.
      request.complete = true;
      this.#parser.incoming = null;
    }
    this.#direct = new DirectResponse(this, request);
    this.#shared.handle(request, this.#direct);
  }

  /** Counts a response that Node has made. */
  track(response: NodeResponse): void {
    response.connectionState = this;
    this.#lastUnsent = response;
    response.once('close', () => {
      if (this.#lastUnsent === response) this.#lastUnsent = undefined;
      this.#readOnSoon();
    });
    this.#shared.watch(this);
  }

  /** Whether the kernel has taken all answers that were sent. */
  get #isSent(): boolean {
    return this.#lastUnsent === undefined && this.socket.writableLength === 0;
  }

  /** The parser has stopped, or has parsed everything. */
  #onExecuted(): void {
    if (!this.#hasHandled && !this.#isInBody && !this.isFollowed && !this.isWaiting) this.#limitStray();
    this.#isInBody = !isRead(this.#parser.incoming);
    this.#hasHandled = false;
    if (!this.isFollowed) return;
    this.#shared.watch(this);
    this.#readOnSoon();
  }

  /** Node times no empty lines between requests: each one would restart the idle time. */
  #limitStray(): void {
    const begun = this.#begun;
    this.#strayTimer ??= setTimeout(() => {
      this.#strayTimer = undefined;
      if (this.#begun === begun) this.socket.destroy();
    }, this.#shared.requestTimeout).unref();
  }

  /** Handles the next request of the last read at the connection's turn, once the request before it is answered. */
  #readOnSoon(): void {
    if (!this.isFollowed || this.#isQueued || this.#direct !== undefined || !this.#isSent) return;
    this.#isQueued = true;
    this.#shared.queue(() => this.#readOn());
  }

  /** Handles the next request of the last read. When there is none, the socket reads again. */
  #readOn(): void {
    this.#isQueued = false;
    this.#readAhead.readOn();
  }

  /** Refuses a request that takes too long to arrive, but not if it is late because the server did not read. */
  refuseLate(refusal: Refusal): void {
    if (this.#isReading) this.refuse(refusal);
    else this.#giveTime(this.#arriving, refusal);
  }

  /** Waits until the server reads, and then once more, because Node reports a late request only once. */
  #giveTime(request: number, refusal: Refusal, wasReading = false): void {
    this.#lateTimer = setTimeout(() => {
      if (this.#arriving !== request) return;
      if (wasReading) this.refuse(refusal);
      else this.#giveTime(request, refusal, this.#isReading);
    }, this.#shared.requestTimeout).unref();
  }

  get #isReading(): boolean {
    return mayRead(this.socket) && !this.#readAhead.isStopped;
  }

  /** The number of the request that arrives now or next. */
  get #arriving(): number {
    return isRead(this.#parser.incoming) ? this.#begun + 1 : this.#begun;
  }

  /**
   * Has `handle` send `refusal` after the answers to all earlier requests, and ends the connection. `headers` are those of
   * the refused request, if they are known.
   */
  refuse(refusal: Refusal, headers?: IncomingHttpHeaders): void {
    if (this.#isRefusing || this.#isEnding) return;
    this.#isRefusing = true;
    const { socket } = this;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const unread = socket.parser?.incoming ?? null;
    if (!isRead(unread)) {
      // The reader of the body gets an error.
      socket.once('close', () => unread.destroy());
      if (this.#shared.interrupt(unread, refusal)) return;
      if (this.#lastUnsent === undefined) this.#end();
      else this.#lastUnsent.once('close', () => this.#end());
      return;
    }
    this.#direct?.nodeResponse();
    const request = unreadableRequest(socket, headers);
    const response = this.#shared.responseMadeBy(() => this.#announce(request, false));
    this.#shared.handle(request, response, refusal);
  }

  /**
   * Closes the server's side once everything is sent, and drops what the client still sends. If the socket closed at
   * once, the kernel would drop answers that the client has not taken yet (RFC 9112, section 9.6).
   */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#readAhead.drop();
    const { socket } = this;
    allowReading(socket, true);
    // Node may have stopped reading without `pause`.
    socket.pause().resume();
    this.#shared.watch(this);
    socket.end(() => {
      // Each byte from the client would reset the socket's own timeout.
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

  #forget(request: IncomingMessage): void {
    if (this.#parser.incoming === request) this.#parser.incoming = null;
  }

  written(): void {
    const { socket } = this;
    if (socket.writableLength > 0) {
      this.#shared.watch(this);
      socket.write('', () => this.#readOnSoon());
    }
    if (socket.timeout !== this.#shared.idleTimeout) socket.setTimeout(this.#shared.idleTimeout);
    this.#readOnSoon();
  }

  nodeResponse(request: IncomingMessage): NodeResponse {
    this.#direct = undefined;
    return this.#shared.responseMadeBy(() => this.#announce(request, true));
  }
}
