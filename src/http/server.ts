import type { App } from './app.ts';
import { BODY_LIMIT } from './body.ts';
import { type Connections, type ConnectionTimes, readRequests, type Server } from './connections.ts';
import { errorBody, JSON_CONTENT, type TransportStatus } from './errors.ts';
import { MALFORMED, NO_CONNECT, TRANSPORT } from './messages.ts';
import { createServer, IncomingMessage } from './node-http.ts';
import type { Reply } from './reply.ts';
import { NodeResponse } from './response.ts';

/** Limits of the HTTP layer, chosen on purpose: times in milliseconds, sizes in bytes. */
export interface HttpLimits extends ConnectionTimes {
  /** From the connection, or the answer before, to the end of the header block. */
  readonly headersTimeout: number;
  /** To the end of the whole request, body included. */
  readonly requestTimeout: number;
  /** How long a connection may idle between requests: longer than usual load balancers keep theirs. */
  readonly keepAliveTimeout: number;
  readonly maxHeaderSize: number;
  readonly maxConnections: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  sendTimeout: 10_000,
  lingerTimeout: 5_000,
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
export function serve(server: Server, app: App, limits: HttpLimits): Connections {
  const connections = readRequests(server, limits, {
    handle: (request, response, reply) => void app.handle(request, response, reply),
    interrupt: (request, reply) => app.interrupt(request, reply),
  });
  server.on('checkContinue', (request: IncomingMessage, response: NodeResponse) => {
    connections.track(request, response);
    // A body that is too large by its own account is not asked for.
    if (!(Number(request.headers['content-length']) > BODY_LIMIT)) response.writeContinue();
    void app.handle(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: NodeResponse) => {
    connections.track(request, response);
    void app.handle(request, response, refusal(417, TRANSPORT[417]));
  });
  // An authority is no path: there is nothing to connect to.
  server.on('connect', ({ socket, headers }) => {
    // Node leaves the socket to us, its errors too.
    socket.on('error', () => socket.destroy());
    connections.of(socket)?.refuse(refusal(400, NO_CONNECT), headers);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.of(socket as never);
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') connection?.refuseLate(refusal(408, TRANSPORT[408]));
    else if (error.code === 'HPE_HEADER_OVERFLOW') connection?.refuse(refusal(431, TRANSPORT[431]));
    else connection?.refuse(refusal(400, MALFORMED));
  });
  return connections;
}

function refusal(status: 400 | TransportStatus, message: string): Reply {
  const body = errorBody('invalid_request', message, status);
  return { status, code: 'invalid_request', headers: JSON_CONTENT, body };
}
