import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Fields, type Handlers, namesAndValues, type ResponseWriter } from 'direct-http';
import pino from 'pino';
import type { Config } from '../../src/app/config.ts';
import type { Response } from '../../src/http/context.ts';
import { errorResponse } from '../../src/http/response.ts';
import { HTTP_LIMITS } from '../../src/http/server.ts';
import type { NewConnection } from '../../src/limits/redis/connection.ts';
import type { Transport } from '../../src/resources/webhooks/transport.ts';
import type { createSite } from '../../src/app/site.ts';
import { type Service, startService } from '../../src/app/start.ts';
import type { openStore } from '../../src/app/store.ts';
import type { Scheduler } from './scheduler.ts';
import { SimulatedProcess } from './scheduler.ts';

/** A request as a client sends it. */
export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Surroundings {
  readonly openStore: typeof openStore;
  readonly newRedisConnection: NewConnection;
  readonly transport: Transport;
}

/** One instance of the service, made by the composition root. Requests reach it without sockets. */
export class Instance {
  readonly process: SimulatedProcess;
  readonly #scheduler: Scheduler;
  #handlers: Handlers<Response> | undefined;
  #service: Service | undefined;
  /** Requests that nobody has answered yet. */
  readonly #open = new Set<() => void>();
  readonly log: string[] = [];

  constructor(name: string, scheduler: Scheduler) {
    this.process = new SimulatedProcess(name);
    this.#scheduler = scheduler;
  }

  get isServing(): boolean {
    return this.process.isAlive && this.#service !== undefined;
  }

  /** False: it could not start, and ended. */
  async start(config: Config, { transport, ...surroundings }: Surroundings): Promise<boolean> {
    const starting = this.#scheduler.as(this.process, () =>
      startService(config, {
        clock: this.#scheduler.clock(this.process),
        log: pino(
          { level: 'warn', base: null, timestamp: false },
          { write: (line: string) => void this.log.push(line) },
        ),
        announce: () => undefined,
        limits: HTTP_LIMITS,
        features: { transport },
        surroundings: {
          ...surroundings,
          createSite: () => NO_PAGES,
          openPort: async () => ({
            port: 8080,
            serve: (handlers) => {
              this.#handlers = handlers;
              return { isBusy: false };
            },
          }),
        },
      }),
    );
    try {
      this.#service = await starting;
      return true;
    } catch (error) {
      this.log.push(String(error));
      this.kill();
      return false;
    }
  }

  /** Ends the process at once. What its clients wait for never comes. */
  kill(): void {
    this.process.isAlive = false;
    this.#service = undefined;
    for (const lose of this.#open) lose();
    this.#open.clear();
    for (const end of this.process.onEnd) end();
  }

  async stop(): Promise<void> {
    const service = this.#service;
    await this.#scheduler.as(this.process, () => service?.stop());
    this.kill();
  }

  /** Hands a request to the service. Undefined: the process ended, so there is no answer. */
  handle(request: SentRequest): Promise<Answer | undefined> {
    const handlers = this.#handlers;
    if (handlers === undefined || !this.isServing) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const lose = () => resolve(undefined);
      this.#open.add(lose);
      const settle = (answer?: Answer) => {
        this.#open.delete(lose);
        resolve(answer);
      };
      this.#scheduler.as(this.process, () => {
        void handlers.handle(toMessage(request), new Writer(settle));
      });
    });
  }
}

/** Pages are made once and for all, which takes longer than a run. */
const NO_PAGES: ReturnType<typeof createSite> = {
  countedPaths: new Set(),
  quietRoutes: new Set(),
  route: () => undefined,
  answer: async () => errorResponse('not_found'),
  prepare: async () => undefined,
};

/** A request whose bytes have all arrived. */
function toMessage({ method, path, headers, body }: SentRequest): IncomingMessage {
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress: '127.0.0.1',
    destroyed: false,
    readableEnded: false,
  });
  const message = new IncomingMessage(socket as unknown as Socket);
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  message.method = method;
  message.url = path;
  message.httpVersion = '1.1';
  message.headers = {
    host: 'simulated',
    ...headers,
    ...(bytes !== undefined && { 'content-type': type, 'content-length': String(bytes.length) }),
  };
  if (bytes !== undefined) message.push(bytes);
  message.push(null);
  message.complete = true;
  return message;
}

class Writer implements ResponseWriter {
  headersSent = false;
  destroyed = false;
  readonly isFollowed = false;
  shouldKeepAlive = true;
  readonly #settle: (answer?: Answer) => void;

  constructor(settle: (answer?: Answer) => void) {
    this.#settle = settle;
  }

  send(status: number, fields: Fields, body: Parameters<ResponseWriter['send']>[2]): void {
    this.headersSent = true;
    const list = namesAndValues(fields);
    const headers: Record<string, string> = {};
    for (let index = 0; index < list.length; index += 2)
      headers[(list[index] as string).toLowerCase()] = list[index + 1] as string;
    const text = body === undefined ? '' : Buffer.from(body as string, 'latin1').toString();
    this.#settle({ status, headers, body: text === '' ? undefined : JSON.parse(text) });
  }

  destroy(): void {
    this.destroyed = true;
    this.#settle();
  }
}
