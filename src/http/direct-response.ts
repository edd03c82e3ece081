import type { Server as NodeServer } from 'node:http';
import type { Socket } from 'node:net';
import { type Fields, httpDate } from './fields.ts';
import { type IncomingMessage, STATUS_CODES } from './node-http.ts';
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

type Handle = (request: IncomingMessage, response: Response) => void;

/**
 * Calls `handle` with each request and its response.
 *
 * Node reads every request, but its response to one costs as much as all that a list takes. So a usual request that has
 * its connection for itself gets a `DirectResponse`, and Node is not told of it. Once it turns out to be unusual, or the
 * next request is there before the answer, Node is told of it after all, and its response is used.
 */
export function onRequest(server: Server, handle: Handle): void {
  const toldLate = new WeakSet<IncomingMessage>();
  server.on('request', (request, response) => {
    if (!toldLate.has(request)) handle(request, response);
  });
  server.on('connection', (socket) => new Connection(socket as NodeSocket, server, handle, toldLate));
}

/** A connection, and the direct response that it waits for. */
class Connection {
  readonly socket: NodeSocket;
  /** How long it may be idle, in milliseconds. */
  readonly idleTimeout: number;
  /** The fields by which HTTP/1.1 tells that it stays. */
  readonly keepAlive: Fields;
  readonly #parser: Parser;
  readonly #tellNode: Parser['onIncoming'];
  readonly #toldLate: WeakSet<IncomingMessage>;
  #current: DirectResponse | undefined;

  constructor(socket: NodeSocket, server: Server, handle: Handle, toldLate: WeakSet<IncomingMessage>) {
    this.socket = socket;
    this.idleTimeout = server.keepAliveTimeout + server.keepAliveTimeoutBuffer;
    const seconds = Math.floor(server.keepAliveTimeout / 1000);
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
    this.#parser = socket.parser;
    this.#tellNode = socket.parser.onIncoming;
    this.#toldLate = toldLate;
    socket.parser.onIncoming = (request, keepAlive) => {
      // Node keeps responses in their order, once it knows of them.
      this.#current?.nodeResponse();
      if (!keepAlive || !isUsual(request) || !isFree(socket)) return this.#tellNode(request, keepAlive);
      if (!hasBody(request)) {
        // It ends here: there is nothing for a stream to do.
        request.complete = true;
        this.#parser.incoming = null;
      }
      this.#current = new DirectResponse(this, request);
      handle(request, this.#current);
      return 0;
    };
    // As Node does with those that it knows of.
    socket.on('close', () => this.#current?.request.destroy());
  }

  /** The direct response is sent. */
  release(request: IncomingMessage): void {
    this.#current = undefined;
    // An idle connection keeps no request.
    if (request.complete && this.#parser.incoming === request) this.#parser.incoming = null;
  }

  /** Tells Node of the request that has a direct response; gives the response that it makes. */
  nodeResponse(request: IncomingMessage): NodeResponse {
    this.#current = undefined;
    this.#toldLate.add(request);
    this.#tellNode(request, true);
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
    return this.#connection.socket.destroyed;
  }

  send(status: number, text: Fields, body: Octets | Buffer | undefined): void {
    this.headersSent = true;
    const { socket, keepAlive, idleTimeout } = this.#connection;
    if (!socket.writable) return;
    if (this.#nodeResponse !== undefined || !this.shouldKeepAlive || typeof body !== 'string') {
      const response = this.nodeResponse();
      response.shouldKeepAlive = this.shouldKeepAlive;
      response.send(status, text, body);
      return;
    }
    this.#connection.release(this.request);
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${text}Date: ${httpDate(Date.now())}\r\n${keepAlive}`;
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, 'latin1');
    if (socket.timeout !== idleTimeout) socket.setTimeout(idleTimeout);
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

/** Whether everything that was sent before is on its way: who does not read their answers is Node's to slow down. */
function isFree({ _httpMessage, writableLength }: NodeSocket): boolean {
  return (_httpMessage ?? null) === null && writableLength === 0;
}
