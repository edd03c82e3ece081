import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type BenchRequest, wireText } from './request.ts';

/** Opened at the same time: fewer than the server's queue of connections holds. */
const AT_ONCE = 200;

/** Connections that had an answer each and wait for another request. */
export interface IdleConnections {
  /** How many of them the server has closed. */
  lost(): number;
  close(): void;
}

/**
 * Opens `count` connections from the loopback address `from`, so that runs that follow one another do not use up the
 * ports of one address. Rejects when the server does not take them all.
 */
export async function openIdle(
  url: string,
  request: BenchRequest,
  { count, from }: { readonly count: number; readonly from: string },
): Promise<IdleConnections> {
  const { host, hostname, port } = new URL(url);
  const text = wireText(request, host);
  const sockets: Socket[] = [];
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  try {
    while (sockets.length < count) {
      const opened = Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, () =>
        connect({ host: hostname, port: Number(port), localAddress: from }),
      );
      sockets.push(...opened);
      await Promise.all(opened.map((socket) => firstAnswer(socket, text)));
    }
  } catch (error) {
    close();
    throw error;
  }
  let lost = 0;
  for (const socket of sockets) socket.once('close', () => lost++);
  return { lost: () => lost, close };
}

async function firstAnswer(socket: Socket, request: string): Promise<void> {
  socket.write(request);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  if (!chunk.toString('latin1').startsWith('HTTP/1.1 200 ')) {
    throw new Error(`An idle connection was answered with ${chunk.toString('latin1').split('\r\n')[0]}.`);
  }
  // What comes later, only the end of the connection, is to be noticed.
  socket.on('error', () => undefined);
  socket.resume();
}
