import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Lifetime } from './lifetime.ts';

/** What a network does to connections, until it is over. */
export type Fault =
  /** What is sent arrives later, by milliseconds that are drawn for each packet. Packets do not overtake each other. */
  | { readonly delay: () => number }
  /** Both sides get the end of the other: FIN. So do new connections. */
  | 'cut'
  /** The same with RST. */
  | 'reset'
  /** The open connections end for the server alone: its FIN is never passed on. New ones work. */
  | 'half-open'
  /** Nothing that the server sends arrives before the fault is over. */
  | 'one way'
  /** Connections are accepted, and nothing arrives on either side before the fault is over. */
  | 'silent';

/** A connection of the service, and the one to the server that belongs to it. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes any more. */
  isDead: boolean;
  /** How many of the awaited texts the service has said. */
  heard: number;
}

interface Watch {
  readonly texts: readonly string[];
  /** Called when the last text was passed on. */
  readonly said?: () => void;
  /** Called when the server answers it. The answer passes when the result resolves. */
  readonly answered?: (link: Link) => Promise<void>;
}

/** A network between a service and its server, with the faults that a test wants. */
export interface TcpProxy {
  /** The address of the server by way of this proxy. */
  readonly url: string;
  begin(fault: Fault): void;
  /** The fault begins when the service next says `text`, which still arrives. Resolves then. */
  beginAfter(text: string, fault: Fault): Promise<void>;
  /** The fault is over: what was held back arrives, and new connections work. */
  end(): void;
  /** New connections lead to the server at this address. */
  moveTo(address: string): void;
  /**
   * Cuts the next connection on which the service says these texts, one after the other, at the moment when the server
   * has answered the last.
   */
  cutAnswerTo(...texts: string[]): void;
  /** Holds the answer back when the service next says `text`. */
  holdAnswerTo(text: string): HeldAnswer;
}

interface HeldAnswer {
  /** Resolves when the server has answered. */
  readonly given: Promise<void>;
  /** Lets the answer through. */
  release(): void;
}

/** Listens on a free port, in front of the server at `address`, until the test is over. */
export async function startTcpProxy(t: Lifetime, address: string): Promise<TcpProxy> {
  const links = new Set<Link>();
  let target = new URL(address);
  let fault: Fault | undefined;
  let { promise: over, resolve: end } = Promise.withResolvers<void>();
  let watch: Watch | undefined;

  function open(client: Socket): void {
    if (fault === 'cut' || fault === 'reset') {
      client.on('error', () => undefined).resume();
      if (fault === 'cut') client.end();
      else client.resetAndDestroy();
      return;
    }
    const { hostname: host, port } = target;
    const server = connect({ host, port: Number(port), noDelay: true, allowHalfOpen: true });
    const link: Link = { client, server, isDead: false, heard: 0 };
    links.add(link);
    let answered: Watch['answered'];
    pass(link, client, server, (bytes) => {
      if (watch === undefined || !bytes.includes(watch.texts[link.heard] ?? '')) return undefined;
      if (++link.heard < watch.texts.length) return undefined;
      const { said } = watch;
      ({ answered } = watch);
      watch = undefined;
      link.heard = 0;
      return said === undefined ? undefined : { after: said };
    });
    pass(link, server, client, () => {
      const held = answered?.(link);
      answered = undefined;
      return held && { before: held };
    });
  }

  /** `look` sees each packet: what it passes after, and what happens after it. */
  function pass(
    link: Link,
    from: Socket,
    to: Socket,
    look: (bytes: Buffer) => { before?: Promise<void>; after?: () => void } | undefined,
  ): void {
    let last: Promise<unknown> = Promise.resolve();
    const isAnswer = from === link.server;
    const later = (act: () => void, before?: Promise<void>) => {
      const due = typeof fault === 'object' ? wait(fault.delay(), undefined, { ref: false }) : undefined;
      last = Promise.all([last, due, before])
        .then(() => (fault === 'silent' || (fault === 'one way' && isAnswer) ? over : undefined))
        .then(() => (link.isDead ? undefined : act()));
    };
    from.on('data', (bytes: Buffer) => {
      const { before, after } = look(bytes) ?? {};
      later(() => {
        to.write(bytes);
        after?.();
      }, before);
    });
    from.on('end', () => later(() => to.end()));
    from.on('error', () => undefined);
    from.on('close', (isReset) => {
      later(() => (isReset ? to.resetAndDestroy() : to.destroySoon()));
      if (link.client.closed && link.server.closed) links.delete(link);
    });
  }

  function strike(link: Link): void {
    if (fault === 'cut') link.client.end();
    if (fault === 'cut' || fault === 'half-open') link.server.end();
    if (fault === 'reset') for (const socket of [link.client, link.server]) socket.resetAndDestroy();
    link.isDead ||= fault === 'cut' || fault === 'reset' || fault === 'half-open';
  }

  function begin(next: Fault): void {
    fault = next;
    ({ promise: over, resolve: end } = Promise.withResolvers<void>());
    for (const link of links) strike(link);
  }

  const listener = createServer({ noDelay: true, allowHalfOpen: true }, open).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    listener.close();
    for (const { client, server } of links) for (const socket of [client, server]) socket.destroy();
  });
  const url = new URL(address);
  url.hostname = '127.0.0.1';
  url.port = `${(listener.address() as AddressInfo).port}`;
  return {
    url: url.href,
    begin,
    beginAfter(text, next) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const said = () => {
        begin(next);
        resolve();
      };
      watch = { texts: [text], said };
      return promise;
    },
    end() {
      fault = undefined;
      end();
    },
    moveTo(next) {
      target = new URL(next);
    },
    cutAnswerTo(...texts) {
      watch = {
        texts,
        answered: async (link) => {
          link.isDead = true;
          for (const socket of [link.client, link.server]) socket.destroy();
        },
      };
    },
    holdAnswerTo(text) {
      const { promise: given, resolve: answer } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const answered = () => {
        answer();
        return released;
      };
      watch = { texts: [text], answered };
      return { given, release };
    },
  };
}
