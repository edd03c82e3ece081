import type { NewFixture } from './fixture.ts';
import { postgresFixture } from './postgres-fixture.ts';
import { sqliteFixture } from './sqlite-fixture.ts';

/** The stores that every repository must work over. */
export const STORES: readonly (readonly [name: string, fresh: NewFixture])[] = [
  ['SQLite', sqliteFixture],
  ['PostgreSQL', postgresFixture],
];
