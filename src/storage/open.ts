import type { Clock } from '../domain/clock.ts';
import type { AccountStore, CounterStore, PetArchive, PetStore, QuotaAdmin } from '../domain/ports.ts';
import { StartupError } from '../startup-error.ts';
import { openSqlite } from './sqlite/store.ts';

/** Everything that `DATABASE_URL` stands for. */
export interface Store {
  readonly pets: PetStore;
  readonly archive: PetArchive;
  readonly accounts: AccountStore;
  readonly counters: CounterStore;
  readonly quotas: QuotaAdmin;
  /** Rejects when the store cannot answer. */
  ping(): Promise<void>;
  /** Writes what is kept in memory for a moment, and drops what is too old; called every second while serving. */
  flush(): Promise<void>;
  /** Writes a consistent copy to a file that must not exist yet, while others read and write. */
  backup(file: string): Promise<void>;
  /** Makes sure that no other service of this environment counts limits over the same store by itself. */
  lockForServing(environment: string): void;
  close(): void;
}

export const DEFAULT_DATABASE_URL = 'sqlite:data/petstore.db';

/**
 * Opens the store and brings it to this version's schema.
 * @throws StartupError in one line, when it cannot be opened.
 */
export function openStore(databaseUrl: string, clock: Clock): Store {
  if (!databaseUrl.startsWith('sqlite:'))
    throw new StartupError('DATABASE_URL must begin with sqlite: in this version.');
  return openSqlite(databaseUrl.slice('sqlite:'.length), {
    clock,
    createFolder: databaseUrl === DEFAULT_DATABASE_URL,
  });
}
