import type { Environment } from '../../domain/api-key.ts';
import { type Clock, MINUTE } from '../../domain/clock.ts';
import { PetStoreError } from '../../domain/errors.ts';
import type { Store } from '../store.ts';
import { PostgresAccounts } from './accounts.ts';
import { PostgresArchive } from './archive.ts';
import { PostgresCounters } from './counters.ts';
import type { PoolLimits } from '../database-url.ts';
import { openPool } from './database.ts';
import { PostgresPets } from './pets.ts';
import { ServingLock } from './serving-lock.ts';
import { postgresTransfer } from './transfer.ts';

export interface PostgresOptions {
  readonly clock: Clock;
  readonly environment: Environment;
  readonly limits: PoolLimits;
  /** Hears of connections that were lost while nobody used them. */
  readonly onLost: (error: Error) => void;
}

/** The store in a PostgreSQL database, over a pool of connections. Any number of processes may use it. */
export async function openPostgres(
  url: string,
  { clock, environment, limits, onLost }: PostgresOptions,
): Promise<Store> {
  const pool = await openPool(url, limits, onLost);
  const pets = new PostgresPets(pool);
  const accounts = new PostgresAccounts(pool, clock);
  const counters = new PostgresCounters(pool, clock, environment);
  const lock = new ServingLock(pool);
  let forgotAt = Number.NEGATIVE_INFINITY;
  return {
    pets,
    archive: new PostgresArchive(pool),
    accounts,
    counters,
    quotas: counters,
    transfer: postgresTransfer(url, limits, onLost),
    async ping() {
      await pool.query('SELECT 1');
    },
    async flush() {
      await accounts.flush();
      if (clock().monotonic - forgotAt < MINUTE) return;
      // When there is more to forget, the next second goes on with it.
      if (!(await pets.forgetOld())) forgotAt = clock().monotonic;
    },
    flushAll: () => accounts.flushAll(),
    async backup() {
      throw new PetStoreError('conflict', 'A PostgreSQL database is backed up with its own tools: pg_dump.');
    },
    lockForServing: (name) => lock.take(name),
    check: () => lock.check(),
    async close() {
      lock.release();
      await pool.close();
    },
  };
}
