import { LARGE_BODY_LIMIT } from '../domain/errors.ts';
import { findBadRequest } from './bad-request.ts';
import { MALFORMED, NO_CONNECT, TRANSPORT } from './messages.ts';
import { transportResponse } from './response.ts';
import {
  answerRequests,
  type Connections,
  type ConnectionTimes,
  createServer,
  type Handlers,
  type Server,
} from 'direct-http';
import type { Response } from './context.ts';

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
export function serve(
  server: Server,
  handlers: Handlers<Response>,
  limits: HttpLimits,
): Connections<Response> {
  const handle: Handlers<Response>['handle'] = (request, writer, refusal) => {
    const bad = refusal === undefined ? findBadRequest(request) : undefined;
    if (bad?.closes === true) writer.shouldKeepAlive = false;
    return handlers.handle(request, writer, refusal ?? bad?.response);
  };
  // A request is refused for its header block first: the parser finds what is wrong with its body before the answer is sent.
  const interrupt: Handlers<Response>['interrupt'] = (request, refusal) =>
    handlers.interrupt(request, findBadRequest(request)?.response ?? refusal);
  const connections = answerRequests(server, limits, { handle, interrupt });
  server.on('checkContinue', (request, response) => {
    connections.track(request, response);
    // The service asks for no body that is too large, or of a request that it refuses.
    const isTooLarge = Number(request.headers['content-length']) > LARGE_BODY_LIMIT;
    if (!isTooLarge && findBadRequest(request) === undefined) response.writeContinue();
    handle(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    connections.track(request, response);
    handle(
      request,
      response,
      findBadRequest(request) === undefined ? transportResponse(417, TRANSPORT[417]) : undefined,
    );
  });
  // CONNECT names a host, not a path.
  server.on('connect', ({ socket, headers }) => {
    // From here on, Node leaves the socket and its errors to the service.
    socket.on('error', () => socket.destroy());
    connections.of(socket)?.refuse(transportResponse(400, NO_CONNECT), headers);
  });
  server.on('clientError', (error: ParserError, socket) => {
    const connection = connections.of(socket as never);
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
      connection?.refuseLate(transportResponse(408, TRANSPORT[408]));
    else connection?.refuse(parserRefusal(error));
  });
  return connections;
}

interface ParserError extends NodeJS.ErrnoException {
  /** What llhttp says about it. */
  readonly reason?: string;
}

/** The refusal of what the parser of Node.js could not read. */
function parserRefusal({ code, reason }: ParserError): Response {
  if (code === 'HPE_HEADER_OVERFLOW') return transportResponse(431, TRANSPORT[431]);
  // The second code is that of the beginning of a connection of HTTP/2.
  if (code === 'HPE_INVALID_VERSION' || code === 'HPE_PAUSED_H2_UPGRADE')
    return transportResponse(505, TRANSPORT[505]);
  // The other reasons of the code are an empty value, and a Content-Length beside it.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && reason === 'Invalid `Transfer-Encoding` header value')
    return transportResponse(501, TRANSPORT[501]);
  return transportResponse(400, MALFORMED);
}
