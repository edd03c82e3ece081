import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface RedisProxy {
  readonly url: string;
  /** From now on, answers are held back for `milliseconds`. */
  delay(milliseconds: number): void;
  /** Answers are held back until they are released: those on their way, and those that come. */
  hold(): void;
  release(): void;
}

/** A network between services and a Redis on `port` of this machine, on which answers are late. */
export async function startRedisProxy(
  t: { after(stop: () => void): void },
  port: number,
): Promise<RedisProxy> {
  const sockets = new Set<Socket>();
  let milliseconds = 0;
  let released = Promise.resolve();
  let release = () => {};
  const listener = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    const end = () => {
      client.destroy();
      server.destroy();
    };
    client.pipe(server);
    // One after the other: what is late holds up what comes after it.
    let last = Promise.resolve();
    server.on('data', (answer: Buffer) => {
      const due = wait(milliseconds);
      last = last
        .then(() => due)
        .then(() => released)
        .then(() => void client.write(answer));
    });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    listener.close();
    release();
    for (const socket of sockets) socket.destroy();
  });
  return {
    url: `redis://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    delay(time) {
      milliseconds = time;
    },
    hold() {
      ({ promise: released, resolve: release } = Promise.withResolvers<void>());
    },
    release: () => release(),
  };
}
