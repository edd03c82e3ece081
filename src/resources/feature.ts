import type { Command } from 'commander';
import type { Settings } from '../config/variables.ts';
import type { EventKinds } from './events/schema.ts';
import type { OperatorResource, Resource } from '../http/operation.ts';
import type { Metric } from '../observability/metrics.ts';
import type { RequestCounts } from '../observability/request-metrics.ts';
import type { AnyEngine } from '../storage/open.ts';
import type { AnyTable } from '../storage/table.ts';
import type { Answer, AnyWrite } from '../storage/transaction.ts';

/*
 * What a feature has, for whoever walks the list of features. The writing thread of SQLite and every command load all manifests,
 * so a manifest imports its repositories only and loads the rest when it is needed.
 */

/** The module of a repository. */
export interface RepositoryModule {
  /** The tables that hold its data. A copy fills them in this order, so no foreign key may refer to a table that comes later. */
  readonly TABLES?: readonly AnyTable[];
  readonly WRITES?: Readonly<Record<string, AnyWrite>>;
  /** What features below ask. */
  readonly ANSWERS?: readonly Answer[];
  /** Its third argument has the repositories of the features below. */
  readonly open: (engine: AnyEngine, settings: never, below: never) => object;
}

interface Feature {
  /** The name of the folder. */
  readonly name: string;
  readonly repositories?: Readonly<Record<string, RepositoryModule>>;
  /** What the environment sets for it. */
  readonly settings?: Settings;
  /** The commands of the program that it adds, or adds to, by their names. */
  readonly commands?: Readonly<Record<string, () => Promise<AddCommands>>>;
  readonly operations?: () => Promise<OperationsModule>;
  readonly service?: () => Promise<ServiceModule>;
}

/** Declares a feature. */
export function feature<const F extends Feature>(declared: F): F {
  return declared;
}

/** What all of a union have together. */
export type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** Adds a command to the program, or more to the command of a feature below. `never` stands for the terminal that it needs. */
type AddCommands = (program: Command, terminal: never) => void;

/** One group of operations or several. Groups of several features that have one name are one in descriptions. */
type Groups<Group> = Group | readonly Group[];

/** The module of what clients and operators can ask for. */
export interface OperationsModule {
  readonly CLIENTS?: Groups<Resource<never>> | ((kinds: EventKinds) => Resource<never>);
  /** The events that it writes. */
  readonly EVENTS?: Partial<EventKinds>;
  readonly OPERATORS?: Groups<OperatorResource<never>>;
}

/** Something that a feature does again and again while the service runs, never twice at a time. */
export interface Task {
  /** As a log line names it. */
  readonly name: string;
  /** Milliseconds between two rounds. */
  readonly interval: number;
  /** Begins no further round of work once `signal` aborts. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** By default, a stop begins no further round, and leaves the rest to the next start or to another instance. */
  readonly atStop?: {
    /** Called after the last round, as soon as a stop begins. Nobody waits any more once `signal` aborts. */
    readonly handOver?: (signal: AbortSignal) => Promise<void>;
    /**
     * Writes what is in memory only. Rounds go on until all requests are answered. Begins no further batch once `signal` aborts.
     */
    readonly finish?: (signal: AbortSignal) => Promise<void>;
    /** Names what `finish` has not written, if anything. */
    readonly unwritten?: () => string | undefined;
  };
}

/** What a feature does by itself while the service runs. */
export interface OpenService<Uses extends object = object> {
  /** What operations, and the services of the features above, may use besides the repositories. */
  readonly uses?: Uses;
  readonly tasks?: readonly Task[];
  readonly metrics?: (requests: Pick<RequestCounts, 'ofCallers'>) => readonly Metric[];
  close?(): Promise<void>;
}

/** The module of a service. The argument of `open` has the repositories and what the service is made of. */
export interface ServiceModule {
  readonly open: (uses: never) => OpenService | Promise<OpenService>;
}
