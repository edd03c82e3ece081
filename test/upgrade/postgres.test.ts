import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { stopDatabaseClock } from '../support/postgres-clock.ts';
import { temporaryPostgres } from '../support/postgres.ts';
import before from './1.0.0/postgres.json' with { type: 'json' };
import { type Before, upgradeContract } from './upgrade-contract.ts';

const DUMP = readFileSync(new URL('1.0.0/postgres.sql', import.meta.url), 'utf8');

upgradeContract('PostgreSQL', before as Before, async (t) => {
  const url = await temporaryPostgres(t);
  await stopDatabaseClock(url, Date.parse(before.stoppedAt));
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(DUMP);
  await client.end();
  return url;
});
