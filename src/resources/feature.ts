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
  open(engine: AnyEngine, settings: never, below: never): object;
}

export interface Feature {
  /** The name of the folder. */
  readonly name: string;
  readonly repositories?: Readonly<Record<string, RepositoryModule>>;
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
