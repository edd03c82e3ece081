import type { IncomingMessage } from 'node:http';
import {
  answerRequests,
  type ConnectionTimes,
  type Response,
  type Server,
  type Wire,
} from '../../src/http/wire/wire.ts';

/** Milliseconds, short enough to be waited for. */
const TIMES: ConnectionTimes = { sendTimeout: 1_000, lingerTimeout: 100, checkingInterval: 20 };

/** Calls `handle` with each request of the server and its response. */
export function onRequest(
  server: Server,
  handle: (request: IncomingMessage, response: Response) => void,
): Wire {
  return answerRequests(server, TIMES, { handle, interrupt: () => false });
}
