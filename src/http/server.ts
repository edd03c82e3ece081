import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { App } from './app.ts';
import { BODY_LIMIT } from './body.ts';
import { onRequest, type Server } from './direct-response.ts';
import { errorBody, JSON_CONTENT, type TransportStatus } from './errors.ts';
import { requestId } from './exchange.ts';
import { fields, httpDate, STATUS_LINES } from './fields.ts';
import { MALFORMED, TRANSPORT } from './messages.ts';
import { createServer, IncomingMessage } from './node-http.ts';
import type { Reply } from './reply.ts';
import { NodeResponse, type Response } from './response.ts';

/** Limits of the HTTP layer, chosen on purpose: times in milliseconds, sizes in bytes. */
export interface HttpLimits {
  /** From the connection, or the answer before, to the end of the header block. */
  readonly headersTimeout: number;
  /** To the end of the whole request, body included. */
  readonly requestTimeout: number;
  /** How long a connection may idle between requests: longer than usual load balancers keep theirs. */
  readonly keepAliveTimeout: number;
  /** How often the two timeouts above are looked at. */
  readonly checkingInterval: number;
  readonly maxHeaderSize: number;
  readonly maxConnections: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  checkingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  maxConnections: 20_000,
};

/** A server with these limits, for `serve` to put an app behind. */
export function createHttpServer(limits: HttpLimits): Server {
  const server = createServer({
    IncomingMessage,
    ServerResponse: NodeResponse,
    // A request without a body needs no stream to read it from.
    optimizeEmptyRequests: true,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: limits.checkingInterval,
    maxHeaderSize: limits.maxHeaderSize,
    // The app answers for a missing Host itself.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxConnections = limits.maxConnections;
  return server;
}

/** Puts the app behind a server. What Node would refuse with a bare status gets the Error body and the rate headers too. */
export function serve(server: Server, app: App, log: Logger): void {
  const handle = (request: IncomingMessage, response: Response, refusal?: Reply) => {
    void app.handle(request, response, refusal);
  };
  onRequest(server, handle);
  server.on('checkContinue', (request: IncomingMessage, response: NodeResponse) => {
    // A body that is too large by its own account is not asked for.
    if (!(Number(request.headers['content-length']) > BODY_LIMIT)) response.writeContinue();
    handle(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: NodeResponse) => {
    const body = errorBody('invalid_request', TRANSPORT[417], 417);
    handle(request, response, {
      status: 417,
      code: 'invalid_request',
      headers: JSON_CONTENT,
      body,
    });
  });
  // An authority is no path: there is nothing to connect to.
  server.on('connect', (request, socket) => {
    // Node leaves the socket to us, its errors too.
    socket.on('error', () => socket.destroy());
    refuseLast(socket, request.headers, 400, 'The method CONNECT is not offered.');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { status, message } = transportFault(error);
    refuseLast(socket, {}, status, message);
  });

  /** Refuses what came behind good requests, once those have got their own answers. */
  function refuseLast(
    socket: Duplex,
    headers: IncomingMessage['headers'],
    status: 400 | TransportStatus,
    message: string,
  ): void {
    const response = app.responseOn(socket);
    if (response === undefined) refuse(socket, headers, status, message);
    else response.whenSent(() => refuseLast(socket, headers, status, message));
  }

  /** Answers on the bare socket, for there is no request to answer, and closes the connection. */
  function refuse(
    stream: Duplex,
    headers: IncomingMessage['headers'],
    status: 400 | TransportStatus,
    message: string,
  ): void {
    const socket = stream as Socket;
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const id = requestId(headers['x-request-id']);
    const body = errorBody('invalid_request', message, status);
    app.rateHeaders({ socket, headers }).then(
      (rate) => {
        const length = `${body.length}`;
        const date = httpDate(Date.now());
        const own = fields('Content-Length', length, 'Connection', 'close', 'Date', date, 'X-Request-Id', id);
        const head = `${STATUS_LINES[status]}${JSON_CONTENT}${own}${rate}`;
        socket.end(`${head}\r\n${body}`, 'latin1', () => socket.destroy());
        log.info({ id, status, code: 'invalid_request' }, 'request refused');
      },
      (fault: unknown) => {
        log.error({ id, err: fault }, 'no refusal could be written');
        socket.destroy();
      },
    );
  }
}

function transportFault(error: NodeJS.ErrnoException): { status: 400 | TransportStatus; message: string } {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: TRANSPORT[408] };
  if (error.code === 'HPE_HEADER_OVERFLOW') return { status: 431, message: TRANSPORT[431] };
  return { status: 400, message: MALFORMED };
}
