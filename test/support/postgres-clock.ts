import { connectAnyway } from './hostile-defaults.ts';

/** Moves the clock of one database, in milliseconds. */
export type AdvanceDatabase = (milliseconds: number) => Promise<void>;

/**
 * Puts a clock that only tests move behind `now()` and `clock_timestamp()` of a database, for every connection made from
 * here on. It stands at `start`, in Unix milliseconds.
 */
export async function stopDatabaseClock(url: string, start: number): Promise<AdvanceDatabase> {
  const execute = async (sql: string) => {
    const client = await connectAnyway(url);
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  const name = new URL(url).pathname.slice(1);
  // pg_catalog is searched first unless the path names it.
  await execute(`
    CREATE SCHEMA test_clock;
    CREATE TABLE test_clock.instant AS SELECT to_timestamp(${start}::numeric / 1000) AS at;
    CREATE FUNCTION test_clock.now() RETURNS timestamptz STABLE LANGUAGE plpgsql
      AS 'BEGIN RETURN (SELECT at FROM test_clock.instant); END';
    CREATE FUNCTION test_clock.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE plpgsql
      AS 'BEGIN RETURN (SELECT at FROM test_clock.instant); END';
    ALTER DATABASE ${name} SET search_path = public, test_clock, pg_catalog`);
  return (milliseconds) =>
    execute(`UPDATE test_clock.instant SET at = at + ${milliseconds} * interval '1 millisecond'`);
}
