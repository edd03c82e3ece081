// Contract: section 2.
import { MINUTE } from '../domain/clock.ts';
import type { AccountRepository, RequestKeys } from '../domain/account-ports.ts';
import type { PetArchive, PetRepository } from '../domain/ports.ts';
import type { RateLimitAdmin } from '../limits/counter.ts';
import { type KeyFinder, StoredAccounts } from './accounts.ts';
import type { Copyable, Engine, StoreSettings } from './engine.ts';
import * as parts from './parts.ts';
import { dropExpiredRecords } from './idempotency.ts';
import { archiveOver, type EnginePets } from './pets.ts';
import { ACCOUNTS, IDEMPOTENCY, KEYS, PETS, type Table } from './tables.ts';

/**
 * Every table that holds data. A copy fills them in this order, so no row may refer to a table that comes later. A test
 * compares them with the migrations of both databases.
 */
export const TABLES: readonly Table[] = [
  ACCOUNTS,
  KEYS,
  PETS,
  IDEMPOTENCY,
  ...Object.values(parts).flatMap((part): readonly Table[] => part.TABLES),
];

type Parts = { readonly [Name in keyof typeof parts]: ReturnType<(typeof parts)[Name]['open']> };

/** Everything that `DATABASE_URL` stands for. */
export interface Store
  extends Parts,
    Pick<Engine, 'poolLoad' | 'ping' | 'backup' | 'lockForServing' | 'check' | 'close'> {
  readonly pets: PetRepository;
  readonly archive: PetArchive;
  readonly accounts: AccountRepository;
  readonly keys: RequestKeys;
  readonly quotas: RateLimitAdmin;
  readonly database: Copyable;
  /** Deletes expired idempotency records. Call it every second while serving. */
  dropExpired(): Promise<void>;
}

/** The store over an engine, with the engine's own versions of what is hot. */
export function storeOver(
  engine: Engine,
  { pets, keys }: { readonly pets: EnginePets; readonly keys: KeyFinder },
  settings: StoreSettings,
): Store {
  const { clock } = settings;
  const opened = Object.fromEntries(
    Object.entries(parts).map(([name, { open }]) => [name, open(engine, settings)]),
  ) as Parts;
  let expiredAt = Number.NEGATIVE_INFINITY;
  return {
    ...engine,
    ...opened,
    pets,
    archive: archiveOver(engine, pets),
    accounts: new StoredAccounts(engine, keys, settings),
    keys,
    quotas: opened.counters,
    database: engine,
    async dropExpired() {
      if (clock().monotonic - expiredAt < MINUTE) return;
      // If there are more, the next call goes on.
      if (!(await dropExpiredRecords(engine))) expiredAt = clock().monotonic;
    },
  };
}
