import type { IncomingHttpHeaders, IncomingMessage, Server as NodeServer } from 'node:http';
import type { Socket } from 'node:net';
import type { NodeResponse } from './response.ts';

export type Server = NodeServer<typeof IncomingMessage, typeof NodeResponse>;

/** Times in milliseconds. */
export interface ConnectionTimes {
  /** How long a client may take nothing of its answers. */
  readonly sendTimeout: number;
  /** How long a client may keep its side open once the service has closed its own. */
  readonly lingerTimeout: number;
  /** How often `sendTimeout` is checked. */
  readonly checkingInterval: number;
}

/** The connections of a server, and what the program can do with them. */
export interface Wire<Refusal> {
  /** Whether answers wait for their clients, or connections are about to end. */
  readonly isBusy: boolean;
  /** Counts a response that Node emitted with another event than `request`. */
  track(request: IncomingMessage, response: NodeResponse): void;
  /** Calls `task` in a later turn of the event loop. Turns that accept connections come first, up to 1,000 in a row. */
  queue(task: () => void): void;
  /** The connection over a socket, to refuse what arrives on it. */
  of(socket: Socket): RefusingConnection<Refusal> | undefined;
}

/** A connection that can refuse what arrives on it. */
export interface RefusingConnection<Refusal> {
  /**
   * Has `handle` send `refusal` after the answers to all earlier requests, and ends the connection. `headers` are those of
   * the refused request, if they are known.
   */
  refuse(refusal: Refusal, headers?: IncomingHttpHeaders): void;
  /** Refuses a request that takes too long to arrive, but not if it is late because the server did not read. */
  refuseLate(refusal: Refusal): void;
}
