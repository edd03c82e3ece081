import type { IncomingMessage, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Connection } from './connection.ts';
import { Connections, type ConnectionTimes, type Server } from './connections.ts';
import * as node from './node.ts';
import { type Handlers, NodeResponse } from './response.ts';

export type { ConnectionTimes, Server } from './connections.ts';
export type { Handlers, Response } from './response.ts';

/*
 * The fast path, fenced. Everything in this folder that goes beyond the documented `node:http` is behind this file. The
 * rest of the service imports this file, `text.ts` (header fields and bodies), `request-log.ts` (the log line)
 * and the type `Reply`.
 *
 * It guarantees: each request reaches `handle` once, with its response. Answers leave in the order of the requests,
 * with the status, header fields and body that Node itself would write (docs/decisions/0016). Clients that do not read
 * their answers are slowed down, then closed (docs/decisions/0035). No answer that was sent is lost when a connection
 * ends.
 *
 * It gains: "Direct response" in docs/performance.md has the figures.
 *
 * Without it: set `DIRECT_RESPONSES` in `direct-response.ts` to false. Node's own response then answers every request.
 * test/http/without-direct-responses.test.ts runs tests in this way.
 */

/** The connections of a server, and what the service can do with them. */
export interface Wire {
  /** Whether answers wait for their clients, or connections are about to end. */
  readonly isBusy: boolean;
  /** Counts a response that Node emitted with another event than `request`. */
  track(request: IncomingMessage, response: NodeResponse): void;
  /** Calls `task` in a later turn of the event loop. Turns that accept connections come first, up to 1,000 in a row. */
  queue(task: () => void): void;
  /** The connection over a socket, to refuse what arrives on it. */
  of(socket: Socket): Pick<Connection, 'refuse' | 'refuseLate'> | undefined;
}

/** A server whose requests `answerRequests` can answer. */
export function createServer(options: ServerOptions): Server {
  return node.createServer({
    ...options,
    IncomingMessage: node.IncomingMessage,
    ServerResponse: NodeResponse,
    // A request without a body needs no stream.
    optimizeEmptyRequests: true,
  });
}

/** Lets `handlers` answer the requests of a server. */
export function answerRequests(server: Server, times: ConnectionTimes, handlers: Handlers): Wire {
  return new Connections(server, times, handlers);
}
