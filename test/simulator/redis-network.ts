import { ClientClosedError, DisconnectsClientError, SocketClosedUnexpectedlyError } from '@redis/client';
import type { Connection, NewConnection } from '../../src/limits/redis/connection.ts';
import { toServerName } from '../../src/limits/redis/slots.ts';
import { connectionRefused, type RedisModel, type Session } from './redis-model.ts';

/** What goes from one process to a server and back. `end` goes from a server that was stopped to its clients. */
export interface Message {
  readonly kind: 'connect' | 'command' | 'end';
  /** `host:port`. */
  readonly server: string;
  readonly command: readonly string[];
}

/**
 * Carries a message: `arrive` is what happens at its goal. The promise settles with what `arrive` gave or threw, once that is
 * back. A message that is lost calls nothing and never settles. On one connection order stays as it is over TCP: a command
 * that arrives brings along those that were sent before it, and an answer waits for those before it.
 */
export type Network = (message: Message, arrive: () => unknown) => Promise<unknown>;

/** Without any delay. */
const INSTANT_NETWORK: Network = async (_, arrive) => arrive();

/** The network of one process. */
export interface RedisLink {
  readonly newConnection: NewConnection;
  /** Breaks its connections, to one server or to all, at once. */
  cut(server?: string): void;
}

export function linkRedis(model: RedisModel, network: Network = INSTANT_NETWORK): RedisLink {
  const connections = new Set<ModelConnection>();
  return {
    newConnection({ host, port }, onError) {
      const connection = new ModelConnection({ model, network, server: toServerName(host, port), onError });
      connections.add(connection);
      return connection;
    },
    cut(server) {
      for (const connection of connections)
        if (server === undefined || connection.server === server) connection.lose();
    },
  };
}

/** A command that was sent, and what came of it once it has arrived. */
interface Sent {
  readonly command: readonly string[];
  outcome?: () => unknown;
}

interface ConnectionParts {
  readonly model: RedisModel;
  readonly network: Network;
  readonly server: string;
  readonly onError: (error: Error) => void;
}

class ModelConnection implements Connection {
  readonly server: string;
  readonly #parts: ConnectionParts;
  #session: Session | undefined;
  #isClosed = false;
  /** Commands on their way to the server, the first one first. */
  #underWay: Sent[] = [];
  /** Rejects what waits for an answer. */
  readonly #waiting = new Set<(error: Error) => void>();
  /** Settles with the last answer. */
  #answered: Promise<unknown> = Promise.resolve();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.server = parts.server;
  }

  async connect(): Promise<void> {
    const { model, network, server } = this.#parts;
    const session = await network({ kind: 'connect', server, command: [] }, () => {
      const target = model.servers.find(({ name }) => name === server);
      if (target === undefined) throw connectionRefused(server);
      return target.accept(() => this.#end());
    });
    if (this.#isClosed) throw new DisconnectsClientError();
    this.#session = session as Session;
  }

  send(command: readonly string[]): Promise<unknown> {
    if (this.#session === undefined) return Promise.reject(new ClientClosedError());
    const { network, server } = this.#parts;
    const session = this.#session;
    const sent: Sent = { command };
    this.#underWay.push(sent);
    const reply = settle(network({ kind: 'command', server, command }, () => this.#arrive(sent, session)));
    const answer = this.#answered.then(() => reply);
    this.#answered = answer;
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      void answer.then((outcome) => {
        this.#waiting.delete(reject);
        if (outcome.status === 'fulfilled') resolve(outcome.value);
        else reject(outcome.reason);
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect(new DisconnectsClientError());
  }

  /** The connection breaks. */
  lose(): void {
    if (this.#session === undefined) return;
    const error = new SocketClosedUnexpectedlyError();
    this.#disconnect(error);
    this.#parts.onError(error);
  }

  /** Runs what was sent so far, and gives what came of one command. */
  #arrive(sent: Sent, session: Session): unknown {
    while (sent.outcome === undefined) {
      const next = this.#underWay.shift() as Sent;
      next.outcome = this.#execute(next.command, session);
    }
    return sent.outcome();
  }

  #execute(command: readonly string[], session: Session): () => unknown {
    if (!session.isOpen) {
      this.lose();
      return () => {
        throw new SocketClosedUnexpectedlyError();
      };
    }
    try {
      const reply = this.#parts.model.server(this.server).execute(command, session);
      return () => reply;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  /** The server was stopped. If the message is lost, the next command finds out. */
  #end(): void {
    if (this.#session === undefined) return;
    const { network, server } = this.#parts;
    network({ kind: 'end', server, command: [] }, () => this.lose()).catch(() => undefined);
  }

  #disconnect(error: Error): void {
    this.#session = undefined;
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }
}

async function settle(promise: Promise<unknown>): Promise<PromiseSettledResult<unknown>> {
  const [outcome] = await Promise.allSettled([promise]);
  return outcome;
}
