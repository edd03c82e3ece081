import { createServer, type Socket } from 'node:net';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Lifetime } from './lifetime.ts';

/*
 * Endpoints that do what they can against those who call them. They run on a thread of their own, so that what they do is not work of
 * the event loop that they are called from.
 */

/** Writes until the other side closes. */
function flood(socket: Socket, head: string, chunk: string): void {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** What each does with a request. */
const KINDS = {
  'endless 103': (socket: Socket) => flood(socket, '', 'HTTP/1.1 103 x\r\n\r\n'.repeat(1_000)),
  'an endless reason': (socket: Socket) => flood(socket, 'HTTP/1.1 200 ', 'a'.repeat(65_536)),
  'an endless body': (socket: Socket) => flood(socket, 'HTTP/1.1 200 x\r\n\r\n', 'a'.repeat(65_536)),
  'no answer': () => undefined,
  '204': (socket: Socket) => void socket.end('HTTP/1.1 204 x\r\n\r\n'),
} as const;

type HostileKind = keyof typeof KINDS;

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  for (const [kind, act] of Object.entries(KINDS)) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => act(socket));
    });
    server.listen(0, '127.0.0.1', () => {
      const { port: number } = server.address() as { port: number };
      port.postMessage([kind, number]);
    });
  }
}

/** Starts an endpoint of each kind, and returns their ports. */
export async function startHostileEndpoints(t: Lifetime): Promise<ReadonlyMap<HostileKind, number>> {
  const thread = new Worker(new URL(import.meta.url));
  t.after(() => thread.terminate());
  const ports = new Map<HostileKind, number>();
  const all = Promise.withResolvers<void>();
  thread.on('error', all.reject);
  thread.on('message', ([kind, port]: [HostileKind, number]) => {
    if (ports.set(kind, port).size === Object.keys(KINDS).length) all.resolve();
  });
  await all.promise;
  return ports;
}
