import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isFrozen: boolean;
}

/** A network between a service and its server, with the faults that a test wants. */
export interface TcpProxy {
  /** The address `url` by way of this proxy. */
  through(url: string): string;
  /** From now on nothing passes on the connections that are open, and nobody is told; new ones work. */
  freeze(): void;
  /** Cuts the next connection on which the service says `text`, at the moment when the server has answered it. */
  cutAnswerTo(text: string): void;
}

/** Listens on a free port, in front of a server on `port` of this machine, until the test is over. */
export async function startTcpProxy(t: TestContext, port: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let marked: string | undefined;
  const listener = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    const pair: Pair = { client, server, isFrozen: false };
    pairs.add(pair);
    let isDoomed = false;
    const end = () => {
      if (pair.isFrozen) return;
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    client.on('data', (said) => {
      if (pair.isFrozen) return;
      if (marked !== undefined && said.includes(marked)) {
        isDoomed = true;
        marked = undefined;
      }
      server.write(said);
    });
    server.on('data', (answer) => {
      if (isDoomed) end();
      else if (!pair.isFrozen) client.write(answer);
    });
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    listener.close();
    for (const { client, server } of pairs) for (const socket of [client, server]) socket.destroy();
  });
  return {
    through(url) {
      const address = new URL(url);
      address.port = `${(listener.address() as AddressInfo).port}`;
      return address.href;
    },
    freeze() {
      for (const pair of pairs) pair.isFrozen = true;
    },
    cutAnswerTo(text) {
      marked = text;
    },
  };
}
