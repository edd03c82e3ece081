import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Lifetime } from './lifetime.ts';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isFrozen: boolean;
  /** How many of the awaited texts the service has said. */
  heard: number;
}

/** A network between a service and its server, with the faults that a test wants. */
interface TcpProxy {
  /** The address `url` by way of this proxy. */
  through(url: string): string;
  /** From now on nothing passes on the connections that are open, and nobody is told; new ones work. */
  freeze(): void;
  /**
   * Cuts the next connection on which the service says these texts, one after the other, at the moment when the server
   * has answered the last.
   */
  cutAnswerTo(...texts: string[]): void;
  /** Keeps back the answer when the service next says `text`. */
  holdAnswerTo(text: string): HeldAnswer;
}

interface HeldAnswer {
  /** Resolves when the server has answered. */
  readonly given: Promise<void>;
  /** Lets the answer through. */
  release(): void;
}

/** Listens on a free port, in front of a server on `port` of this machine, until the test is over. */
export async function startTcpProxy(t: Lifetime, port: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let awaited:
    | { readonly texts: readonly string[]; readonly answer: (pair: Pair, bytes: Buffer | string) => void }
    | undefined;
  const listener = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    const pair: Pair = { client, server, isFrozen: false, heard: 0 };
    pairs.add(pair);
    let answered: ((pair: Pair, bytes: Buffer | string) => void) | undefined;
    const end = () => {
      if (pair.isFrozen) return;
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    client.on('data', (said) => {
      if (pair.isFrozen) return;
      if (awaited !== undefined && said.includes(awaited.texts[pair.heard] ?? '')) pair.heard++;
      if (awaited !== undefined && pair.heard === awaited.texts.length) {
        answered = awaited.answer;
        awaited = undefined;
        pair.heard = 0;
      }
      server.write(said);
    });
    server.on('data', (answer) => {
      if (answered !== undefined) answered(pair, answer);
      else if (!pair.isFrozen) client.write(answer);
      answered = undefined;
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
    cutAnswerTo(...texts) {
      awaited = { texts, answer: ({ client }) => void client.destroy() };
    },
    holdAnswerTo(text) {
      const { promise: given, resolve } = Promise.withResolvers<void>();
      let release: () => void = () => undefined;
      const answer = ({ client }: Pair, bytes: Buffer | string) => {
        release = () => void client.write(bytes);
        resolve();
      };
      awaited = { texts: [text], answer };
      return { given, release: () => release() };
    },
  };
}
