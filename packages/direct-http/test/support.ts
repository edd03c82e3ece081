import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import {
  answerRequests,
  type Connections,
  type ConnectionTimes,
  type ResponseWriter,
  type Server,
} from '../src/main.ts';

/** Milliseconds, longer than a busy machine takes. */
export const PATIENT: ConnectionTimes = { sendTimeout: 60_000, lingerTimeout: 60_000, checkingInterval: 20 };

/** Milliseconds, short enough to be waited for. */
const TIMES: ConnectionTimes = { sendTimeout: 1_000, lingerTimeout: 100, checkingInterval: 20 };

/** Calls `handle` with each request of the server and its response. */
export function onRequest(
  server: Server,
  handle: (request: IncomingMessage, response: ResponseWriter) => void,
  times = TIMES,
): Connections<never> {
  return answerRequests<never>(server, times, { handle, interrupt: () => false });
}

/** Everything that the server at `url` sends on a connection, one character for each byte, once it got `bytes`. */
export function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}
