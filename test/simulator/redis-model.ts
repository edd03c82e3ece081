import { hash } from 'node:crypto';
import { ErrorReply } from '@redis/client';
import { SLOTS, slotOf, toOwners } from '../../src/limits/redis/slots.ts';
import { RedisKeys } from './redis-keys.ts';
import { SCRIPTS } from './redis-scripts.ts';

/*
 * Redis as this service uses it: one server, or the servers of a cluster. Whatever takes time is the network's
 * (redis-network.ts). Not modelled: replication that lags, an election, a majority (a test says who has which slots, and who
 * hears of it), evicted keys, a full memory or disk (but see `refusal`), numbers with fractions, keys without braces,
 * patterns other than `*`, and every command that neither production nor a test of the model sends.
 */

type Command = readonly string[];

/** The server's side of a connection. */
export interface Session {
  /** False once the server has ended it. */
  isOpen: boolean;
  /** Whether the next command may use a slot that is on its way here. */
  isAsking: boolean;
  readonly onEnd: () => void;
}

const TRY_AGAIN = 'TRYAGAIN Multiple keys request during rehashing of slot';

/** The server of each hash slot. */
interface SlotTable {
  /** The server of each slot. Empty texts stand for none. */
  readonly owners: readonly string[];
  /** The reply to CLUSTER SLOTS. */
  readonly ranges: readonly (readonly [
    from: number,
    to: number,
    primary: readonly [host: string, port: number],
  ])[];
}

interface ServerParts {
  /** `host:port`. */
  readonly name: string;
  readonly isClustered: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly newRunId: () => string;
}

class ModelServer {
  readonly name: string;
  readonly keys: RedisKeys;
  readonly #parts: ServerParts;
  readonly #sessions = new Set<Session>();
  readonly #scripts = new Set<string>();
  #isUp = true;
  #runId: string;
  /** Milliseconds by which its clock is ahead. */
  aheadBy = 0;
  /** The error reply to each command with keys, such as `LOADING Redis is loading the dataset in memory`. */
  refusal: string | undefined;
  role: 'master' | 'slave' = 'master';
  /** As this server has heard. */
  table: SlotTable = toTable([]);
  /** Slots that are leaving or arriving, and the other server. */
  readonly migrating = new Map<number, string>();
  readonly importing = new Map<number, string>();

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.keys = new RedisKeys(() => this.now());
    this.#runId = parts.newRunId();
  }

  get runId(): string {
    return this.#runId;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Whole Unix milliseconds by its clock. */
  now(): number {
    return Math.floor(this.#parts.now() + this.aheadBy);
  }

  /** A client connects. */
  accept(onEnd: () => void): Session {
    if (!this.#isUp) throw connectionRefused(this.name);
    const session: Session = { isOpen: true, isAsking: false, onEnd };
    this.#sessions.add(session);
    return session;
  }

  /** Runs one command, in one atomic step. @throws ErrorReply as a server gives it. */
  execute(command: Command, session: Pick<Session, 'isAsking'> = { isAsking: false }): unknown {
    const { isAsking } = session;
    session.isAsking = command[0] === 'ASKING';
    const keys = keysOf(command);
    if (keys.length > 0) {
      if (this.refusal !== undefined) throw new ErrorReply(this.refusal);
      if (this.#parts.isClustered) this.#redirect(keys, isAsking);
    }
    return this.#run(command, keys);
  }

  /** Its process ends, and with it every connection. */
  stop(): void {
    this.#isUp = false;
    for (const session of this.#sessions) {
      session.isOpen = false;
      session.onEnd();
    }
    this.#sessions.clear();
  }

  /** A new run of the server. It knows no script. */
  start({ withData }: { readonly withData: boolean }): void {
    if (!withData) this.keys.clear();
    this.#scripts.clear();
    this.#runId = this.#parts.newRunId();
    this.#isUp = true;
  }

  restart(options: { readonly withData: boolean }): void {
    this.stop();
    this.start(options);
  }

  #run(command: Command, keys: readonly string[]): unknown {
    const [name = '', ...args] = command;
    const [first = '', ...rest] = args;
    switch (name) {
      case 'EVALSHA':
        if (!this.#scripts.has(first)) throw new ErrorReply('NOSCRIPT No matching script. Please use EVAL.');
        return this.#runScript(first, keys, command);
      case 'EVAL': {
        const sha = hash('sha1', first, 'hex');
        this.#scripts.add(sha);
        return this.#runScript(sha, keys, command);
      }
      case 'INFO':
        return this.#info();
      case 'ASKING':
        return 'OK';
      case 'CLUSTER':
        return this.#slots();
      case 'SCAN':
        return this.#scan(args);
      case 'FLUSHALL':
        this.keys.clear();
        return 'OK';
      case 'SCRIPT':
        this.#scripts.clear();
        return 'OK';
      case 'SET':
        this.keys.set(first, rest[0] ?? '');
        return 'OK';
      case 'DEL':
        return keys.filter((key) => this.keys.delete(key)).length;
      case 'HSET':
        return this.keys.change(first, 'hash', (fields) => addAll(fields, pairsOf(rest)));
      case 'ZADD':
        return this.keys.change(first, 'zset', (scores) =>
          addAll(
            scores,
            pairsOf(rest).map(([score, member]) => [member, Number(score)] as const),
          ),
        );
      case 'RPUSH':
        return this.keys.change(first, 'list', (list) => list.push(...rest));
      case 'PEXPIREAT':
        return this.keys.expireAt(first, Number(rest[0])) ? 1 : 0;
      default:
        throw new Error(`${name} is not modelled`);
    }
  }

  #runScript(sha: string, keys: readonly string[], command: Command): unknown {
    const script = SCRIPTS.get(sha);
    if (script === undefined) throw new Error('this script is not modelled');
    const args = command.slice(3 + keys.length);
    return script({ keys, args, store: this.keys, now: this.now(), runId: this.#runId });
  }

  /** Refuses keys that it does not serve. */
  #redirect(keys: readonly string[], isAsking: boolean): void {
    const [slot = 0, ...others] = new Set(keys.map(slotOf));
    const owner = this.table.owners[slot] ?? '';
    if (owner === '') throw new ErrorReply('CLUSTERDOWN Hash slot not served');
    if (others.length > 0) throw new ErrorReply("CROSSSLOT Keys in request don't hash to the same slot");
    const missing = keys.filter((key) => !this.keys.has(key));
    if (owner === this.name) {
      const target = this.migrating.get(slot);
      if (target === undefined || missing.length === 0) return;
      throw new ErrorReply(missing.length < keys.length ? TRY_AGAIN : `ASK ${slot} ${target}`);
    }
    if (!isAsking || !this.importing.has(slot)) throw new ErrorReply(`MOVED ${slot} ${owner}`);
    if (missing.length > 0 && new Set(keys).size > 1) throw new ErrorReply(TRY_AGAIN);
  }

  #info(): string {
    return [
      'redis_version:7.0.15',
      `run_id:${this.#runId}`,
      'maxmemory:0',
      'maxmemory_policy:noeviction',
      `role:${this.role}`,
      `cluster_enabled:${this.#parts.isClustered ? 1 : 0}`,
      '',
    ].join('\r\n');
  }

  #slots(): unknown {
    if (!this.#parts.isClustered) throw new ErrorReply('ERR This instance has cluster support disabled');
    return this.table.ranges;
  }

  #scan([cursor, , pattern = '', , count]: Command): unknown {
    const matcher = new RegExp(`^${RegExp.escape(pattern).replaceAll('\\*', '.*')}$`);
    const [next, keys] = this.keys.scan(Number(cursor), Number(count));
    return [String(next), keys.filter((key) => matcher.test(key))];
  }
}

interface ModelOptions {
  /** `host:port` of each. In a cluster they share the hash slots. */
  readonly servers: readonly string[];
  /** More servers of a cluster, without a hash slot. */
  readonly spares?: readonly string[];
  readonly isClustered?: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Unique texts of one length. */
  readonly newRunId: () => string;
}

export class RedisModel {
  readonly #servers: ReadonlyMap<string, ModelServer>;
  /** Servers that hear nothing from the others. */
  readonly #isolated = new Set<ModelServer>();
  /** As it is. */
  #table: SlotTable;

  constructor({ servers, spares = [], isClustered = false, now, newRunId }: ModelOptions) {
    const all = [...servers, ...spares];
    this.#servers = new Map(all.map((name) => [name, new ModelServer({ name, isClustered, now, newRunId })]));
    // Divided as redis-cli divides them.
    const end = (count: number) => Math.round((count * SLOTS) / servers.length - 1) + 1;
    const ranges = servers.map((name, index) => ({ from: end(index), to: end(index + 1) - 1, server: name }));
    this.#table = toTable(isClustered ? toOwners(ranges) : []);
    this.#spread();
  }

  get servers(): readonly ModelServer[] {
    return [...this.#servers.values()];
  }

  server(name: string): ModelServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`no server ${name}`);
    return server;
  }

  /** The server of a cluster that has the slot of a key. Undefined if none has. */
  ownerOf(key: string): ModelServer | undefined {
    return this.#servers.get(this.#table.owners[slotOf(key)] ?? '');
  }

  /** `to` takes over all slots of `from`: with its data as a replica, or without. `from` becomes a replica once it hears. */
  failOver(from: string, to: string, { withData }: { readonly withData: boolean }): void {
    const slots = slotsOf(this.#table.owners, from);
    const target = this.server(to);
    const isMoved = (key: string) => slots.has(slotOf(key));
    if (withData) target.keys.copy(this.server(from).keys, isMoved);
    else target.keys.deleteAll(isMoved);
    target.role = 'master';
    this.#give(slots, to);
    if (!this.#isolated.has(this.server(from))) this.server(from).role = 'slave';
  }

  /** No server has the slots of this one any more. */
  loseSlots(name: string): void {
    this.#give(slotsOf(this.#table.owners, name), '');
  }

  /** A server takes all slots that no server has. */
  takeLostSlots(name: string): void {
    this.#give(slotsOf(this.#table.owners, ''), name);
  }

  /** No server has this slot any more. */
  loseSlot(slot: number): void {
    this.#give(new Set([slot]), '');
  }

  /** A slot begins to move. Its keys follow by `moveKey`, or with `finishMove`. */
  beginMove(slot: number, to: string): void {
    const from = this.#table.owners[slot] ?? '';
    this.server(from).migrating.set(slot, to);
    this.server(to).importing.set(slot, from);
  }

  moveKey(key: string): void {
    const from = this.ownerOf(key);
    const to = from?.migrating.get(slotOf(key));
    if (from === undefined || to === undefined) throw new Error(`${key} is not on its way`);
    this.server(to).keys.copy(from.keys, (each) => each === key);
    from.keys.delete(key);
  }

  finishMove(slot: number): void {
    const from = this.server(this.#table.owners[slot] ?? '');
    const to = from.migrating.get(slot) ?? '';
    for (const [key] of from.keys.dump()) if (slotOf(key) === slot) this.moveKey(key);
    from.migrating.delete(slot);
    this.server(to).importing.delete(slot);
    this.#give(new Set([slot]), to);
  }

  /** From now on a server goes on telling what it knows of the slots. */
  isolate(name: string): void {
    this.#isolated.add(this.server(name));
  }

  rejoin(name: string): void {
    const server = this.server(name);
    this.#isolated.delete(server);
    if (server.table.owners.includes(name) && !this.#table.owners.includes(name)) server.role = 'slave';
    this.#spread();
  }

  #give(slots: ReadonlySet<number>, to: string): void {
    this.#table = toTable(this.#table.owners.map((owner, slot) => (slots.has(slot) ? to : owner)));
    this.#spread();
  }

  #spread(): void {
    for (const server of this.#servers.values()) if (!this.#isolated.has(server)) server.table = this.#table;
  }
}

function toTable(owners: readonly string[]): SlotTable {
  const ranges: [from: number, to: number, primary: readonly [string, number]][] = [];
  for (const [slot, owner] of owners.entries()) {
    if (owner === '') continue;
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === slot - 1 && owners[slot - 1] === owner) last[1] = slot;
    else ranges.push([slot, slot, addressOf(owner)]);
  }
  return { owners, ranges };
}

function slotsOf(owners: readonly string[], name: string): ReadonlySet<number> {
  return new Set(owners.flatMap((owner, slot) => (owner === name ? [slot] : [])));
}

/** The keys that a command names. */
function keysOf([name = '', ...args]: Command): readonly string[] {
  if (name === 'EVAL' || name === 'EVALSHA') return args.slice(2, 2 + Number(args[1]));
  if (name === 'DEL') return args;
  return ['SET', 'HSET', 'ZADD', 'RPUSH', 'PEXPIREAT'].includes(name) ? args.slice(0, 1) : [];
}

function pairsOf(texts: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: texts.length / 2 }, (_, pair) => [
    texts[2 * pair] ?? '',
    texts[2 * pair + 1] ?? '',
  ]);
}

/** Gives how many names are new. */
function addAll<V>(map: Map<string, V>, entries: readonly (readonly [string, V])[]): number {
  const before = map.size;
  for (const [name, value] of entries) map.set(name, value);
  return map.size - before;
}

function addressOf(name: string): readonly [host: string, port: number] {
  const colon = name.lastIndexOf(':');
  return [name.slice(0, colon), Number(name.slice(colon + 1))];
}

/** As the operating system reports it. */
export function connectionRefused(name: string): Error {
  return Object.assign(new Error(`connect ECONNREFUSED ${name}`), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
  });
}
