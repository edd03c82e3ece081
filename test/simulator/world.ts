import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../../src/app/config.ts';
import { readConfig } from '../../src/app/config.ts';
import { SECOND } from '../../src/domain/clock.ts';
import { ENGINE_PARTS } from '../../src/app/store.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { type Disk, storeOver } from './database.ts';
import { Endpoints } from './endpoints.ts';
import { type Call, type History, newHistory, type Trouble } from './history.ts';
import { type Answer, Instance, type SentRequest } from './instance.ts';
import { Random } from '../support/random.ts';
import { RedisModel } from './redis-model.ts';
import { linkRedis, type Network, type RedisLink } from './redis-network.ts';
import { Scheduler, SimulatedProcess } from './scheduler.ts';
import type { Accounts, SimulatedKey, Template } from './template.ts';

export const INSTANCES = 3;

/** Refusals of a key in a minute before it is banned. */
export const BAN_AFTER = 5;

/** Milliseconds that an order holds its animal. */
export const HOLD = 3 * SECOND;

/** Milliseconds that clients wait for an answer. */
const PATIENCE = 40 * SECOND;

/** The troubles that a run may have. */
export const TROUBLES = [
  'kill',
  'stall',
  'disk',
  'redis',
  'endpoints',
  'clock',
  'network',
  'operator',
] as const;

export interface Plan {
  readonly seed: number;
  /** Requests of clients. */
  readonly steps: number;
  readonly troubles: readonly (typeof TROUBLES)[number][];
}

export interface Sent {
  readonly client: string;
  readonly key: SimulatedKey;
  readonly request: Omit<SentRequest, 'headers'> & { readonly headers?: SentRequest['headers'] };
}

/** What happens to messages between processes and Redis. */
interface RedisNetwork {
  /** Milliseconds that a message takes at most. */
  slowness: number;
  /** The part of messages that are lost. */
  loss: number;
  /** Servers that nothing reaches, and that nobody hears. */
  readonly silent: Set<string>;
  /** Processes that reach no server. */
  readonly cutOff: Set<SimulatedProcess>;
}

/** Milliseconds. */
export const QUICK = 2;

/** Runs the message's arrival, and gives what settles its promise. */
function settleLater(
  arrive: () => unknown,
  resolve: (value: unknown) => void,
  reject: (error: unknown) => void,
): () => void {
  try {
    const value = arrive();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}

/** Servers of a cluster. The last one has no slots. */
const CLUSTER = ['redis1.simulated:7001', 'redis2.simulated:7002', 'redis3.simulated:7003'];
const SPARE = 'redis4.simulated:7004';

/** Three instances, and all that is around them. */
export class World {
  readonly plan: Plan;
  readonly scheduler: Scheduler;
  readonly disk: Disk = { isFull: false, slowness: 4 };
  readonly endpoints: Endpoints;
  readonly redis: RedisModel;
  readonly isClustered: boolean;
  readonly redisNetwork: RedisNetwork = { slowness: QUICK, loss: 0, silent: new Set(), cutOff: new Set() };
  readonly links = new Map<SimulatedProcess, RedisLink>();
  /** By which clients pause longer: a slow run has few requests in much time. */
  readonly pace: number;
  readonly history: History = newHistory();
  readonly accounts: Accounts;
  readonly categories: readonly number[];
  readonly file: string;
  readonly instances: Instance[] = [];
  /** The part of requests and answers that are lost. */
  loss = 0;
  /** Whether an operator has suspended an account, or is about to. */
  isSuspending = false;
  readonly #folder: string;
  readonly #config: Config;
  readonly #random: Random;
  #started = 0;
  #reader: DatabaseSync | undefined;

  constructor(plan: Plan, template: Template, folder: string) {
    this.plan = plan;
    this.scheduler = new Scheduler(plan.seed);
    this.#random = new Random(plan.seed, 'network');
    this.endpoints = new Endpoints(this.scheduler, new Random(plan.seed, 'endpoints'));
    const choice = new Random(plan.seed, 'world');
    const isClustered = choice.chance(0.4);
    this.isClustered = isClustered;
    this.pace = choice.pick([1, 1, 2, 5]);
    this.redis = new RedisModel({
      servers: isClustered ? CLUSTER : CLUSTER.slice(0, 1),
      spares: isClustered ? [SPARE] : [],
      isClustered,
      now: () => this.scheduler.unix,
      newRunId: () => choice.bytes(20).toString('hex'),
    });
    this.accounts = template.accounts;
    this.categories = template.categories;
    this.#folder = mkdtempSync(join(folder, 'run-'));
    this.file = join(this.#folder, 'petstore.db');
    template.copy(this.file);
    const read = readConfig({
      DATABASE_URL: `sqlite:${this.file}`,
      REDIS_URL: `redis://${CLUSTER[0]}`,
      BAN_AFTER: String(BAN_AFTER),
      BAN_SECONDS: '30',
    });
    this.#config = { ...read, orderHold: HOLD };
  }

  random(stream: string): Random {
    return new Random(this.plan.seed, stream);
  }

  /** The store as a command of an operator opens it, beside the instances. */
  openStore(): Promise<Store> {
    const process = new SimulatedProcess('operator');
    const surroundings = {
      scheduler: this.scheduler,
      random: new Random(this.plan.seed, 'operator'),
      disk: this.disk,
    };
    const settings = {
      ...this.#config,
      ...ENGINE_PARTS,
      clock: this.scheduler.clock(process),
      onLost: () => undefined,
    };
    return this.scheduler.as(process, () => storeOver(this.file, process, surroundings)(settings));
  }

  /** Puts a new process in the place of one that ended. False: it could not start. */
  async start(index: number): Promise<boolean> {
    const instance = new Instance(`instance ${++this.#started}`, this.scheduler);
    this.instances[index] = instance;
    const { process } = instance;
    this.history.starts.push(this.scheduler.now);
    const surroundings = {
      scheduler: this.scheduler,
      random: new Random(this.plan.seed, process.name),
      disk: this.disk,
    };
    return instance.start(this.#config, {
      openStore: storeOver(this.file, process, surroundings),
      newRedisConnection: this.#link(process).newConnection,
      transport: this.endpoints.transport(process),
    });
  }

  #link(process: SimulatedProcess): RedisLink {
    const link = linkRedis(this.redis, this.#carry(process));
    this.links.set(process, link);
    process.onEnd.push(() => link.cut());
    return link;
  }

  /** What carries commands of a process to Redis and answers back. Lost ones take no time. */
  #carry(process: SimulatedProcess): Network {
    const random = new Random(this.plan.seed, `redis of ${process.name}`);
    const { scheduler, redisNetwork } = this;
    const isLost = (server: string) =>
      redisNetwork.silent.has(server) || redisNetwork.cutOff.has(process) || random.chance(redisNetwork.loss);
    const delay = () => random.between(0.05, redisNetwork.slowness);
    return ({ server }, arrive) => {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      scheduler.after(
        delay(),
        () => {
          if (isLost(server)) return;
          const settle = settleLater(arrive, resolve, reject);
          if (!isLost(server)) scheduler.after(delay(), settle, process);
        },
        undefined,
      );
      return promise;
    };
  }

  /** Sends a request to an instance, and resolves with what the client knows afterwards. */
  async send(index: number, { client, key, request }: Sent): Promise<Call> {
    const instance = this.instances[index] as Instance;
    const headers = {
      ...request.headers,
      authorization: `Bearer ${key.text}`,
      // Without one, the service draws ids in bulk, which would outlive a run.
      'x-request-id': `request-${this.history.calls.length}`,
    };
    const call: Call = {
      client,
      process: instance.process,
      request: { ...request, headers },
      accountId: key.accountId,
      keyId: key.id,
      began: this.scheduler.now,
      ended: Number.POSITIVE_INFINITY,
      left: Number.POSITIVE_INFINITY,
      answer: undefined,
    };
    this.history.calls.push(call);
    await this.scheduler.wait(this.#random.between(0.1, 3));
    const isLost = this.#random.chance(this.loss);
    const answer = isLost ? undefined : await this.#inTime(instance.handle(call.request));
    await this.scheduler.wait(isLost ? SECOND : this.#random.between(0.1, 3));
    call.left = this.scheduler.now;
    if (answer === undefined || this.#random.chance(this.loss)) return call;
    call.ended = this.scheduler.now;
    call.answer = answer;
    return call;
  }

  async #inTime(answer: Promise<Answer | undefined>): Promise<Answer | undefined> {
    const late = Promise.withResolvers<undefined>();
    const cancel = this.scheduler.after(PATIENCE, () => late.resolve(undefined));
    return Promise.race([answer, late.promise]).finally(cancel);
  }

  /** Notes that something goes wrong from now on, until `end` is called. */
  begin(kind: Trouble['kind'], process?: SimulatedProcess): { end(): void } {
    const trouble: Trouble = { kind, process, from: this.scheduler.now, to: Number.POSITIVE_INFINITY };
    this.history.troubles.push(trouble);
    return { end: () => void (trouble.to = this.scheduler.now) };
  }

  kill(index: number): void {
    const instance = this.instances[index] as Instance;
    this.begin('end', instance.process);
    instance.kill();
  }

  /** Rows of the database, read beside all processes. */
  read<Row extends object>(statement: string): Row[] {
    this.#reader ??= new DatabaseSync(this.file, { readOnly: true });
    return this.#reader.prepare(statement).all() as Row[];
  }

  close(): void {
    for (const instance of this.instances) instance.kill();
    this.#reader?.close();
    rmSync(this.#folder, { recursive: true });
  }
}
