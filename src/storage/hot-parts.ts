import type { KeyFinder } from './accounts.ts';
import type { PostgresEngine } from './postgres/engine.ts';
import type { SqliteEngine } from './sqlite/engine.ts';

/** What each engine has in a version of its own, because it is hot. */
export interface HotParts {
  readonly keys: KeyFinder;
}

export interface OpenEngine {
  readonly engine: AnyEngine;
  readonly hot: HotParts;
}

/** An engine, whose kind decides how a repository does what is hot. */
export type AnyEngine = SqliteEngine | PostgresEngine;
