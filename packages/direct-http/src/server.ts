import type { IncomingMessage, Server as NodeServer } from 'node:http';
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
