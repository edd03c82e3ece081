import type { AccountStore, PetArchive, PetStore } from '../domain/ports.ts';
import type { CounterStore, QuotaAdmin } from '../limits/counter.ts';
import type { Transfer } from './transfer.ts';

/** Everything that `DATABASE_URL` stands for. */
export interface Store {
  readonly pets: PetStore;
  readonly archive: PetArchive;
  readonly accounts: AccountStore;
  readonly counters: CounterStore;
  readonly quotas: QuotaAdmin;
  readonly transfer: Transfer;
  /** Rejects when the store cannot answer. */
  ping(): Promise<void>;
  /** Writes what is kept in memory for a moment, and drops what is too old; called every second while serving. */
  flush(): Promise<void>;
  /** Writes all of it, also what `flush` leaves for later; called once, when serving ends. */
  flushAll(): Promise<void>;
  /** Writes a consistent copy to a file that must not exist yet, while others read and write. */
  backup(file: string): Promise<void>;
  /** Makes sure that no other service of this environment counts limits over the same store by itself. */
  lockForServing(environment: string): Promise<void>;
  /**
   * Called every second while serving. Rejects with the reason when nothing may be admitted now: the lock for serving is
   * lost, or the database is no longer the one that was opened. `retaken`: the lock was lost and is held again, so
   * another service may have counted in between.
   */
  check(): Promise<'kept' | 'retaken'>;
  close(): Promise<void>;
}
