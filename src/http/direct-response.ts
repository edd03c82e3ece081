import type { Server as NodeServer } from 'node:http';
import type { Socket } from 'node:net';
import { type Fields, httpDate, STATUS_LINES } from './fields.ts';
import type { IncomingMessage } from './node-http.ts';
import type { Octets } from './octets.ts';
import type { NodeResponse, Response } from './response.ts';

export type Server = NodeServer<typeof IncomingMessage, typeof NodeResponse>;

/** What Node keeps on a connection, as its types do not tell. */
interface NodeSocket extends Socket {
  /** The response that is being sent; others wait behind it. */
  readonly _httpMessage?: NodeResponse | null;
  readonly parser: Parser;
}

interface Parser {
  /** The request that is being read. */
  incoming: IncomingMessage | null;
  /** Called with each request once its header block is read: makes a response, and tells the server of both. */
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
}

/**
 * Calls `handle` with each request and its response.
 *
 * Node reads every request, but its response to one costs as much as all that a list takes. So a usual request that has
 * its connection for itself gets a `DirectResponse`, and Node is not told of it. Once it turns out to be unusual, or the
 * next request is there before the answer, Node is told of it after all, and its response is used.
 *
 * Node takes a connection that waits for a direct response for idle: what is in flight must end before `server.close`.
 */
export function onRequest(
  server: Server,
  handle: (request: IncomingMessage, response: Response) => void,
): void {
  const { keepAliveTimeout, keepAliveTimeoutBuffer } = server;
  const setting = new Setting(keepAliveTimeout, keepAliveTimeout + keepAliveTimeoutBuffer, handle);
  const connections = new WeakMap<Socket, Connection>();
  server.on('connection', (socket) => {
    connections.set(socket, new Connection(socket as NodeSocket, setting));
  });
  server.on('request', (request, response) => {
    if (request !== setting.toldLate) handle(request, response);
  });
  server.on('timeout', (socket) => {
    if (connections.get(socket)?.isWaiting !== true) socket.destroy();
  });
}

/** What all connections of a server share. Times are in milliseconds. */
class Setting {
  /** How long a connection may be idle. */
  readonly idleTimeout: number;
  /** The request that `handle` knows already while Node is told of it. */
  toldLate: IncomingMessage | undefined;
  readonly handle: (request: IncomingMessage, response: Response) => void;
  readonly #keepAlive: Fields;
  #date = '';
  #standing: Fields = '';

  /** Clients are told `keepAliveTimeout`. */
  constructor(keepAliveTimeout: number, idleTimeout: number, handle: Setting['handle']) {
    this.idleTimeout = idleTimeout;
    this.handle = handle;
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1000)}\r\n`;
  }

  /** The fields that stand in every response, made once a second. */
  get standing(): Fields {
    const date = httpDate(Date.now());
    if (date !== this.#date) {
      this.#date = date;
      this.#standing = `Date: ${date}\r\n${this.#keepAlive}`;
    }
    return this.#standing;
  }
}

/** A connection, and the direct response that it waits for. */
class Connection {
  readonly socket: NodeSocket;
  readonly setting: Setting;
  readonly #parser: Parser;
  readonly #tellNode: Parser['onIncoming'];
  #response: DirectResponse | undefined;

  constructor(socket: NodeSocket, setting: Setting) {
    this.socket = socket;
    this.setting = setting;
    this.#parser = socket.parser;
    this.#tellNode = socket.parser.onIncoming;
    socket.parser.onIncoming = (request, keepAlive) => this.#onIncoming(request, keepAlive);
    // As Node does with requests that it knows of.
    socket.on('close', () => this.#response?.request.destroy());
  }

  /** Whether a request was read and is not answered yet. */
  get isWaiting(): boolean {
    return this.#response !== undefined || hasNodeResponse(this.socket);
  }

  #onIncoming(request: IncomingMessage, keepAlive: boolean): number {
    // Node keeps responses in their order, once it knows of them.
    this.#response?.nodeResponse();
    if (!keepAlive || !isUsual(request) || !isFree(this.socket)) return this.#tellNode(request, keepAlive);
    if (!hasBody(request)) {
      // It ends here: there is nothing for a stream to do.
      request.complete = true;
      this.#parser.incoming = null;
    }
    this.#response = new DirectResponse(this, request);
    this.setting.handle(request, this.#response);
    return 0;
  }

  /** The direct response to this request is being sent. */
  release(request: IncomingMessage): void {
    this.#response = undefined;
    // An idle connection keeps no request.
    if (request.complete) this.#forget(request);
    else request.once('end', () => this.#forget(request));
  }

  #forget(request: IncomingMessage): void {
    if (this.#parser.incoming === request) this.#parser.incoming = null;
  }

  /** Tells Node of the request that has a direct response; gives the one that it makes. */
  nodeResponse(request: IncomingMessage): NodeResponse {
    this.#response = undefined;
    this.setting.toldLate = request;
    try {
      this.#tellNode(request, true);
    } finally {
      this.setting.toldLate = undefined;
    }
    const { _httpMessage: response } = this.socket;
    if (response?.req !== request) throw new Error('Node made no response to a request.');
    return response;
  }
}

/** A response that is one text, head and body, written straight on the socket. */
class DirectResponse implements Response {
  readonly request: IncomingMessage;
  shouldKeepAlive = true;
  headersSent = false;
  readonly #connection: Connection;
  #nodeResponse: NodeResponse | undefined;

  constructor(connection: Connection, request: IncomingMessage) {
    this.#connection = connection;
    this.request = request;
  }

  get destroyed(): boolean {
    return this.#nodeResponse?.destroyed ?? !this.#connection.socket.writable;
  }

  send(status: number, text: Fields, body: Octets | Buffer | undefined): void {
    this.headersSent = true;
    const { socket, setting } = this.#connection;
    if (!socket.writable) return;
    if (this.#nodeResponse !== undefined || !this.shouldKeepAlive || !isOneText(status, body)) {
      const response = this.nodeResponse();
      response.shouldKeepAlive = this.shouldKeepAlive;
      response.send(status, text, body);
      return;
    }
    this.#connection.release(this.request);
    const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`;
    socket.write(`${STATUS_LINES[status]}${text}${setting.standing}${length}\r\n${body ?? ''}`, 'latin1');
    // Once for each connection, as a rule; what is read and written puts it off. So who does not take the answer goes, too.
    if (socket.timeout !== setting.idleTimeout) socket.setTimeout(setting.idleTimeout);
  }

  destroy(): void {
    this.#connection.socket.destroy();
  }

  whenSent(listener: () => void): void {
    this.nodeResponse().whenSent(listener);
  }

  /** Node's response in place of this one. */
  nodeResponse(): NodeResponse {
    this.#nodeResponse ??= this.#connection.nodeResponse(this.request);
    return this.#nodeResponse;
  }
}

/** Whether nothing but a plain response to HTTP/1.1 is asked for. */
function isUsual({
  httpVersion,
  method,
  headers,
  upgrade,
}: IncomingMessage & { upgrade?: boolean }): boolean {
  return httpVersion === '1.1' && method !== 'HEAD' && headers.expect === undefined && upgrade !== true;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Bytes are no text; and where a body and the status do not go together, Node knows what to say. */
function isOneText(status: number, body: Octets | Buffer | undefined): body is Octets | undefined {
  const takesBody = status !== 204 && status !== 304;
  return takesBody ? typeof body === 'string' : body === undefined;
}

/** Whether everything that was sent before is on its way: who does not read their answers is Node's to slow down. */
function isFree(socket: NodeSocket): boolean {
  return !hasNodeResponse(socket) && socket.writableLength === 0;
}

function hasNodeResponse({ _httpMessage }: NodeSocket): boolean {
  return _httpMessage !== null && _httpMessage !== undefined;
}
