import type { TestContext } from 'node:test';
import { Client, type QueryResult } from 'pg';
import { fakeClock } from '../support/clock.ts';
import { migratedPostgres } from '../support/migrated-postgres.ts';
import { PATIENT_POOL } from '../support/postgres.ts';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { openPostgresStore } from '../support/store.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Fixture, FixtureRules } from './fixture.ts';

export const POOL = { connections: 5, ...PATIENT_POOL };

interface PostgresFixture extends Fixture {
  readonly url: string;
  /** The same data for another instance, whose clock may differ. */
  readonly another: (clock?: Clock) => Promise<Store>;
  /** Runs SQL past the service's code. */
  readonly raw: (sql: string, values?: unknown[]) => Promise<QueryResult>;
  /** A connection past the service's code; it ends with the database. */
  readonly connect: () => Promise<Client>;
}

/** A database of its own for one test. */
export async function postgresFixture(
  t: TestContext,
  { lockTimeout, ...settings }: FixtureRules = {},
): Promise<PostgresFixture> {
  const url = await migratedPostgres(t);
  const clock = fakeClock();
  const advanceDatabase = await stopDatabaseClock(url, clock().unix);
  const open = async (ownClock: Clock = clock) => {
    const store = await openPostgresStore(url, {
      clock: ownClock,
      pool: { ...POOL, ...(lockTimeout !== undefined && { lockTimeout }) },
      ...settings,
    });
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= store.close());
    t.after(close);
    return { ...store, close };
  };
  let store = await open();
  const raw = async (sql: string, values: unknown[] = []) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return await client.query(sql, values);
    } finally {
      await client.end();
    }
  };
  return {
    url,
    clock,
    async passTime(milliseconds) {
      clock.advance(milliseconds);
      await advanceDatabase(milliseconds);
    },
    noticedWithin: 5_000,
    get store() {
      return store;
    },
    raw,
    async connect() {
      const client = new Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    },
    another: open,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    async deleteOrder(id) {
      await raw('DELETE FROM orders WHERE id = $1', [id]);
    },
  };
}
