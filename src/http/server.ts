import { BODY_LIMIT } from './body.ts';
import { transportReply } from './errors.ts';
import { MALFORMED, NO_CONNECT, TRANSPORT } from './messages.ts';
import {
  answerRequests,
  type ConnectionTimes,
  createServer,
  type Handlers,
  type Server,
  type Wire,
} from './wire/wire.ts';

/** Limits of the HTTP layer: times in milliseconds, sizes in bytes. Node has options with most of these names. */
export const HTTP_LIMITS = {
  /** From the connection or the previous answer to the end of the header block. */
  headersTimeout: 10_000,
  /** The same to the end of the body. */
  requestTimeout: 30_000,
  /** How long a connection may be idle. Longer than the default of common load balancers, so they close first. */
  keepAliveTimeout: 75_000,
  sendTimeout: 10_000,
  lingerTimeout: 5_000,
  checkingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  maxConnections: 20_000,
} satisfies ConnectionTimes & Record<string, number>;

export type HttpLimits = Readonly<typeof HTTP_LIMITS>;

/** A server with these limits. `serve` lets handlers answer its requests. */
export function createHttpServer(limits: HttpLimits): Server {
  const server = createServer({
    ...limits,
    connectionsCheckingInterval: limits.checkingInterval,
    // The app refuses a missing Host itself.
    requireHostHeader: false,
    noDelay: true,
  });
  server.maxConnections = limits.maxConnections;
  return server;
}

/** Lets `handlers` answer requests. They answer what the HTTP layer refuses, too, so each answer has the same headers. */
export function serve(server: Server, handlers: Handlers, limits: HttpLimits): Wire {
  const wire = answerRequests(server, limits, handlers);
  server.on('checkContinue', (request, response) => {
    wire.track(request, response);
    // The service does not ask for a body whose Content-Length is too large.
    if (!(Number(request.headers['content-length']) > BODY_LIMIT)) response.writeContinue();
    handlers.handle(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    wire.track(request, response);
    handlers.handle(request, response, transportReply(417, TRANSPORT[417]));
  });
  // CONNECT names a host, not a path.
  server.on('connect', ({ socket, headers }) => {
    // From here on, Node leaves the socket and its errors to the service.
    socket.on('error', () => socket.destroy());
    wire.of(socket)?.refuse(transportReply(400, NO_CONNECT), headers);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = wire.of(socket as never);
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
      connection?.refuseLate(transportReply(408, TRANSPORT[408]));
    else if (error.code === 'HPE_HEADER_OVERFLOW') connection?.refuse(transportReply(431, TRANSPORT[431]));
    else connection?.refuse(transportReply(400, MALFORMED));
  });
  return wire;
}
