import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type BenchRequest, wireText } from './request.ts';

/** Connections opened at the same time. The server's queue of connections holds more. */
const BATCH = 200;

/** Opens `count` keep-alive connections that get one answer each and then send nothing. Returns what closes them. */
export async function openIdle(url: string, request: BenchRequest, count: number): Promise<() => void> {
  const { host, hostname, port } = new URL(url);
  const text = wireText(request, host);
  const sockets: Socket[] = [];
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  try {
    while (sockets.length < count) {
      const length = Math.min(BATCH, count - sockets.length);
      const opened = Array.from({ length }, () => connect(Number(port), hostname));
      sockets.push(...opened);
      await Promise.all(opened.map((socket) => firstAnswer(socket, text)));
    }
  } catch (error) {
    close();
    throw error;
  }
  return close;
}

async function firstAnswer(socket: Socket, request: string): Promise<void> {
  socket.write(request);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  const [line = ''] = chunk.toString('latin1').split('\r\n');
  if (!line.startsWith('HTTP/1.1 200 ')) throw new Error(`An idle connection was answered with ${line}.`);
  socket.resume();
}
