// Contract: section 2.
import { type Clock, MINUTE } from '../domain/clock.ts';
import * as limits from '../limits/stored.ts';
import type { Copyable, Engine } from '../storage/engine.ts';
import * as idempotency from '../storage/idempotency.ts';
import type { AnyEngine } from '../storage/open.ts';
import type { AnyTable } from '../storage/table.ts';
import { Writes } from '../storage/transaction.ts';
import type { RepositoryModule, Together } from './feature.ts';
import * as names from './fold-names.ts';
import { FEATURES } from './index.ts';

/*
 * The repositories of all features. The writing thread of SQLite loads this file, so no repository loads a package, except for
 * the templates of statements.
 */

type Listed = Extract<(typeof FEATURES)[number], { readonly repositories: object }>['repositories'];

const MODULES = Object.assign(
  {},
  ...FEATURES.map((each) => ('repositories' in each ? each.repositories : {})),
  {
    limits,
  },
) as Readonly<Record<string, RepositoryModule>>;

/** Every table that holds data, in the order in which a copy fills them. */
export const TABLES: readonly AnyTable[] = [
  ...Object.values(MODULES).flatMap(({ TABLES: tables = [] }) => tables),
  ...idempotency.TABLES,
];

export const WRITES = new Writes(
  {
    ...Object.fromEntries(Object.entries(MODULES).map(([name, { WRITES: writes = {} }]) => [name, writes])),
    idempotency: idempotency.WRITES,
    names: names.WRITES,
  },
  Object.values(MODULES).flatMap(({ ANSWERS: answers = [] }) => answers),
);

type Module = Together<Listed>[keyof Together<Listed>] | typeof limits;

type SettingsOf<M> = M extends { open(engine: never, settings: infer Settings, ...rest: never[]): object }
  ? unknown extends Settings
    ? never
    : Settings
  : never;

/** What repositories need to know besides their database. */
export type RepositorySettings = { readonly clock: Clock } & Together<SettingsOf<Module>>;

type Opened<Modules> = {
  readonly [Name in keyof Modules]: Modules[Name] extends { open(...args: never[]): infer R } ? R : never;
};

export type Repositories = Opened<Together<Listed>> & { readonly limits: ReturnType<typeof limits.open> };

function openRepositories(engine: AnyEngine, settings: RepositorySettings): Repositories {
  const opened: Record<string, object> = {};
  // The order of the list sees to it that what a repository needs is open before.
  for (const [name, { open }] of Object.entries(MODULES))
    opened[name] = open(engine, settings as never, opened as never);
  return opened as never;
}

/** Everything that `DATABASE_URL` stands for. */
export interface Store
  extends Repositories,
    Pick<Engine, 'dialect' | 'poolLoad' | 'ping' | 'backup' | 'lockForServing' | 'check' | 'close'> {
  readonly database: Copyable;
  /** Deletes expired idempotency records. Call it every second while serving. */
  dropExpired(): Promise<void>;
}

/** The store over an engine. */
export function openStoreOver(engine: AnyEngine, settings: RepositorySettings): Store {
  const { clock } = settings;
  let expiredAt = Number.NEGATIVE_INFINITY;
  return {
    ...engine,
    ...openRepositories(engine, settings),
    database: engine,
    async dropExpired() {
      if (clock().monotonic - expiredAt < MINUTE) return;
      // If there are more, the next call goes on.
      if (!(await engine.write(idempotency.dropExpired))) expiredAt = clock().monotonic;
    },
  };
}
