import { Client } from 'pg';

/** Defaults of a database that change what statements do, give or may take. */
const DEFAULTS = {
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  statement_timeout: '1',
  lock_timeout: '1',
  idle_in_transaction_session_timeout: '1',
  idle_session_timeout: '1',
  exit_on_error: 'on',
  array_nulls: 'off',
  transform_null_equals: 'on',
  standard_conforming_strings: 'off',
  quote_all_identifiers: 'on',
  row_security: 'off',
  check_function_bodies: 'off',
  client_encoding: 'LATIN1',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  TimeZone: 'Pacific/Kiritimati',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  synchronous_commit: 'local',
};

/** Sets them for a database, except where its tables are. */
export async function setHostileDefaults(databaseUrl: string): Promise<void> {
  const client = await connectAnyway(databaseUrl);
  const name = new URL(databaseUrl).pathname.slice(1);
  for (const [setting, value] of Object.entries(DEFAULTS))
    await client.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  await client.end();
}

/** A connection that does not have them. */
export async function connectAnyway(databaseUrl: string): Promise<Client> {
  const timeouts = [
    'statement_timeout',
    'lock_timeout',
    'idle_session_timeout',
    'idle_in_transaction_session_timeout',
  ];
  const options = timeouts.map((name) => `-c ${name}=0`).join(' ');
  const client = new Client({ connectionString: databaseUrl, options });
  await client.connect();
  return client;
}
