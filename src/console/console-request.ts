import type { IncomingMessage } from 'node:http';
import type { Response } from 'direct-http';

/** One request to the console, with what is known about it so far. */
export interface ConsoleRequest {
  readonly request: IncomingMessage;
  readonly response: Response;
  readonly id: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Decoded; empty when its percent-encoding is broken. */
  readonly path: string;
  readonly query: string;
  /** The name of the path in log and metrics. Not the path itself, because a client may put a token there. */
  route: string;
  /** The name of the operator, once it is known. */
  operator: string | undefined;
  /** For the log: why the service cannot answer now. */
  reason: string | undefined;
}
