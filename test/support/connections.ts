import {
  type Connections,
  type ConnectionTimes,
  readRequests,
  type Server,
} from '../../src/http/connections.ts';
import type { IncomingMessage } from '../../src/http/node-http.ts';
import type { Response } from '../../src/http/response.ts';

/** Milliseconds, short enough to be waited for. */
const TIMES: ConnectionTimes = { sendTimeout: 1_000, lingerTimeout: 100, checkingInterval: 20 };

/** Calls `handle` with each request of the server and its response. */
export function onRequest(
  server: Server,
  handle: (request: IncomingMessage, response: Response) => void,
): Connections {
  return readRequests(server, TIMES, { handle, interrupt: () => false });
}
