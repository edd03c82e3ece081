import type { ServerOptions } from 'node:http';
import { Connections } from './connections.ts';
import * as node from './node.ts';
import { type Handlers, NodeResponse } from './response.ts';
import type { ConnectionTimes, Server } from './server.ts';

export type { Connections } from './connections.ts';
export type { Handlers, ResponseWriter } from './response.ts';
export { STATUS_CODES } from './node.ts';
export * from './text.ts';
export type { ConnectionTimes, Server } from './server.ts';

/** A server whose requests `answerRequests` can answer. It takes the options of `node:http`. */
export function createServer(options: ServerOptions): Server {
  return node.createServer({
    ...options,
    IncomingMessage: node.IncomingMessage,
    ServerResponse: NodeResponse,
    // A request without a body needs no stream.
    optimizeEmptyRequests: true,
  });
}

/** Lets `handlers` answer the requests of a server. Call it once, before the server listens. */
export function answerRequests<Refusal>(
  server: Server,
  times: ConnectionTimes,
  handlers: Handlers<Refusal>,
): Connections<Refusal> {
  return new Connections(server, times, handlers);
}
