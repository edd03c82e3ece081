import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

type Statements = Readonly<Record<string, string>>;

/** SQL for the id in the data of an event, for each database. */
const ID = { SQLite: `(data ->> 'id')`, PostgreSQL: `((data::json ->> 'id')::bigint)` } as const;

/** With those that wait for their place in the feed: SQLite has none. */
const ALL_EVENTS = `(SELECT type, version, data FROM events UNION ALL SELECT type, version, data FROM event_queue) AS every`;

const REQUESTS = 'sum(ok + client_error + refused + server_error)';

/** Each statement finds what must not be, in any database. */
const broken = (id: string): Statements => ({
  'the hours of usage that are kept are not those of their day': `
    SELECT key_id, day, operation, d.n, h.n
    FROM (SELECT key_id, day, operation, ${REQUESTS} AS n FROM usage_days GROUP BY 1, 2, 3) AS d
    JOIN (SELECT key_id, hour / 24 AS day, operation, ${REQUESTS} AS n FROM usage_recent GROUP BY 1, 2, 3) AS h
      USING (key_id, day, operation)
    WHERE d.n <> h.n`,
  // Events of before a thing was created are of a version that had none.
  'the events of an animal are not its versions': eventsOf(id, 'pet', 'pets'),
  'the events of a category are not its versions': eventsOf(id, 'category', 'categories'),
  'the events of an order are not its versions': eventsOf(id, 'order', 'orders'),
  'an event is of an animal that is not there': `
    SELECT ${id} FROM ${ALL_EVENTS} WHERE type LIKE 'pet.%'
    GROUP BY ${id}
    HAVING ${id} NOT IN (SELECT id FROM pets) AND max(CASE WHEN type = 'pet.deleted' THEN 1 ELSE 0 END) = 0`,
  'an animal has two open orders': `
    SELECT pet_id FROM orders WHERE status = 'pending' GROUP BY pet_id HAVING count(*) > 1`,
  'an animal has an open order and is not pending': `
    SELECT id, status FROM pets
    WHERE coalesce(status, '') <> 'pending' AND id IN (SELECT pet_id FROM orders WHERE status = 'pending')`,
  'an order that is not complete has the time of its completion': `
    SELECT id, status FROM orders WHERE completed_at IS NOT NULL AND status <> 'complete'`,
  'a rotated key has no successor of its account': `
    SELECT old.id FROM keys AS old LEFT JOIN keys AS new ON new.id = old.rotated_to
    WHERE old.rotated_to IS NOT NULL
      AND (new.account_id IS NULL OR new.account_id <> old.account_id OR old.expires_at IS NULL)`,
  'an open event is not in the feed, or of no webhook': `
    SELECT id FROM open_events
    WHERE event_id NOT IN (SELECT id FROM events) OR webhook_id NOT IN (SELECT id FROM webhooks)`,
});

/** The same where nobody set a status by hand, deleted what an answer is recorded of, or waited until events are no longer kept. */
const brokenIfUntouched = (id: string): Statements => ({
  'the usage of all keys is not the sum of theirs': `
    SELECT environment, day, operation, k.n, t.n
    FROM (SELECT environment, day, operation, ${REQUESTS} AS n FROM usage_days JOIN keys ON id = key_id GROUP BY 1, 2, 3) AS k
    FULL JOIN (SELECT environment, hour / 24 AS day, operation, ${REQUESTS} AS n FROM usage_totals GROUP BY 1, 2, 3) AS t
      USING (environment, day, operation)
    WHERE coalesce(k.n, 0) <> coalesce(t.n, 0)`,
  'an animal is pending without an open order': `
    SELECT id FROM pets
    WHERE status = 'pending' AND id NOT IN (SELECT pet_id FROM orders WHERE status = 'pending')`,
  'an animal with a completed order is not sold': `
    SELECT id FROM pets
    WHERE id IN (SELECT pet_id FROM orders WHERE status = 'complete') AND coalesce(status, '') <> 'sold'`,
  'an answer is recorded of a thing that is not there': `
    SELECT location FROM idempotency
    WHERE location NOT IN (SELECT '/pets/' || id FROM pets UNION ALL SELECT '/store/orders/' || id FROM orders)`,
  'a key has no event, or more than one': `
    SELECT id FROM keys
    WHERE (SELECT count(*) FROM ${ALL_EVENTS} WHERE type = 'key.created' AND ${id} = keys.id) <> 1
      OR (SELECT count(*) FROM ${ALL_EVENTS} WHERE type = 'key.rotated' AND ${id} = keys.id)
        <> CASE WHEN rotated_to IS NULL THEN 0 ELSE 1 END`,
  'a webhook has a place behind the end of the feed': `
    SELECT id FROM webhooks WHERE place > (SELECT coalesce(max(id), 0) FROM events)`,
});

/** Things whose versions since their creation are not those of their events, one for each. */
function eventsOf(id: string, kind: string, table: string): string {
  return `
    WITH told AS (
      SELECT ${id} AS id, count(*) AS count, max(version) AS last, count(DISTINCT version) AS versions,
        max(CASE WHEN type = '${kind}.created' THEN 1 ELSE 0 END) AS is_whole
      FROM ${ALL_EVENTS} WHERE type LIKE '${kind}.%' GROUP BY ${id})
    SELECT id, version, count, last FROM ${table} JOIN told USING (id)
    WHERE is_whole = 1 AND (count <> version OR last <> version OR versions <> version)`;
}

/** Opens a file for reading and gives the rows of a statement as plain values. */
export function readRows<Row extends object>(file: string, statement: string): Row[] {
  return withFile(file, (read) => read(statement) as Row[]);
}

/** Opens a file for as long as `use` takes. */
function withFile<T>(file: string, use: (read: (statement: string) => object[]) => T): T {
  const db = new DatabaseSync(file);
  try {
    // Rows of SQLite have no prototype, and equal no object of a test.
    return use((statement) =>
      db
        .prepare(statement)
        .all()
        .map((row) => Object.assign({}, row)),
    );
  } finally {
    db.close();
  }
}

/** `touched`: somebody did what makes the second list fail. */
export type History = 'untouched' | 'touched';

function statementsFor(database: keyof typeof ID, history: History): [what: string, statement: string][] {
  const id = ID[database];
  return Object.entries({ ...broken(id), ...(history === 'untouched' && brokenIfUntouched(id)) });
}

/** A SQLite database of this version, whatever happened to the processes that wrote to it. */
export function assertInvariants(file: string, history: History = 'untouched'): void {
  withFile(file, (read) => {
    assert.deepEqual(read('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    assert.deepEqual(read('PRAGMA foreign_key_check'), []);
    for (const [what, statement] of statementsFor('SQLite', history))
      assert.deepEqual(read(statement), [], what);
  });
}

/** The same of a PostgreSQL database. */
export async function assertPostgresInvariants(url: string, history: History = 'untouched'): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const [what, statement] of statementsFor('PostgreSQL', history))
      assert.deepEqual((await client.query<object>(statement)).rows, [], what);
  } finally {
    await client.end();
  }
}
