import type { ServerOptions } from 'node:http';
import { Connections } from './connections.ts';
import * as node from './node.ts';
import { PlainConnections } from './plain-connections.ts';
import { type Handlers, NodeResponse } from './response.ts';
import type { ConnectionTimes, Server, Wire } from './wire.ts';

export type { Handlers, ResponseWriter } from './response.ts';
export { STATUS_CODES } from './node.ts';
export * from './text.ts';
export type { ConnectionTimes, Server, Wire } from './wire.ts';

/** With `false`, the package steps aside: it leaves requests and connections to Node. */
export const ENABLED = true;

/** The major version of Node on which the package was tried. It steps aside on every other one. */
export const TRIED_ON = 26;

/** Whether the package leaves requests and connections to Node. */
export const STEPS_ASIDE = !ENABLED || Number.parseInt(process.versions.node, 10) !== TRIED_ON;

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
): Wire<Refusal> {
  return STEPS_ASIDE
    ? new PlainConnections(server, times, handlers)
    : new Connections(server, times, handlers);
}
