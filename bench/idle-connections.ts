import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type BenchRequest, wireText } from './request.ts';

/** Connections opened at the same time. The server's queue of connections holds more. */
const BATCH = 200;

/** Keep-alive connections that got one answer each and then send nothing. */
export interface IdleConnections extends Disposable {
  /** How many of them the server has closed. */
  closedByServer(): number;
}

/** Opens `count` connections from the loopback address `from`. Rejects if the server refuses one. */
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
      const opened = Array.from({ length: Math.min(BATCH, count - sockets.length) }, () =>
        connect({ host: hostname, port: Number(port), localAddress: from }),
      );
      sockets.push(...opened);
      await Promise.all(opened.map((socket) => firstAnswer(socket, text)));
    }
  } catch (error) {
    close();
    throw error;
  }
  let closed = 0;
  for (const socket of sockets) socket.once('close', () => closed++);
  return { closedByServer: () => closed, [Symbol.dispose]: close };
}

async function firstAnswer(socket: Socket, request: string): Promise<void> {
  socket.write(request);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  if (!chunk.toString('latin1').startsWith('HTTP/1.1 200 ')) {
    throw new Error(`An idle connection was answered with ${chunk.toString('latin1').split('\r\n')[0]}.`);
  }
  // An error also closes the connection, which is counted.
  socket.on('error', () => undefined);
  socket.resume();
}
