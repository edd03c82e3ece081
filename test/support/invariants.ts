import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';

/** Each statement finds what must not be, in a database of which no animal was made `pending` by hand. */
const BROKEN: Readonly<Record<string, string>> = {
  // Events of before a thing was created are of a version that had none.
  'the events of an animal are not its versions': eventsOf('pet', 'pets'),
  'the events of a category are not its versions': eventsOf('category', 'categories'),
  'the events of an order are not its versions': eventsOf('order', 'orders'),
  'an event is of an animal that is not there': `
    SELECT data FROM events WHERE type LIKE 'pet.%'
    GROUP BY data ->> 'id' HAVING data ->> 'id' NOT IN (SELECT id FROM pets) AND NOT max(type = 'pet.deleted')`,
  'an animal has two open orders': `
    SELECT pet_id FROM orders WHERE status = 'pending' GROUP BY pet_id HAVING count(*) > 1`,
  'an animal is pending without an open order, or has one and is not': `
    SELECT id, status FROM pets
    WHERE (status IS 'pending') <> (id IN (SELECT pet_id FROM orders WHERE status = 'pending'))`,
  'an animal with a completed order is not sold': `
    SELECT id FROM pets WHERE id IN (SELECT pet_id FROM orders WHERE status = 'complete') AND status IS NOT 'sold'`,
  'an answer is recorded of a thing that is not there': `
    SELECT location FROM idempotency
    WHERE location NOT IN (SELECT '/pets/' || id FROM pets UNION ALL SELECT '/store/orders/' || id FROM orders)`,
  'a rotated key has no successor of its account': `
    SELECT old.id FROM keys AS old LEFT JOIN keys AS new ON new.id = old.rotated_to
    WHERE old.rotated_to IS NOT NULL AND (new.account_id IS NOT old.account_id OR old.expires_at IS NULL)`,
  'a key has no event, or more than one': `
    SELECT id FROM keys
    WHERE (SELECT count(*) FROM events WHERE type = 'key.created' AND data ->> 'id' = keys.id) <> 1
      OR (SELECT count(*) FROM events WHERE type = 'key.rotated' AND data ->> 'id' = keys.id) <> (rotated_to IS NOT NULL)`,
  'an open event is not in the feed, or of no webhook': `
    SELECT id FROM open_events
    WHERE event_id NOT IN (SELECT id FROM events) OR webhook_id NOT IN (SELECT id FROM webhooks)`,
  'a webhook has a place behind the end of the feed': `
    SELECT id FROM webhooks WHERE place > (SELECT coalesce(max(id), 0) FROM events)`,
};

/** Things whose versions since their creation are not those of their events, one for each. */
function eventsOf(kind: string, table: string): string {
  return `
    WITH told AS (
      SELECT data ->> 'id' AS id, count(*) AS count, max(version) AS last, count(DISTINCT version) AS versions,
        max(type = '${kind}.created') AS is_whole
      FROM events WHERE type LIKE '${kind}.%' GROUP BY data ->> 'id')
    SELECT id, version, count, last FROM ${table} JOIN told USING (id)
    WHERE is_whole AND (count <> version OR last <> version OR versions <> version)`;
}

/** Opens a file for reading and gives the rows of a statement as plain values. */
export function readRows<Row extends object>(file: string, statement: string): Row[] {
  const db = new DatabaseSync(file);
  try {
    // Rows of SQLite have no prototype, and equal no object of a test.
    return db
      .prepare(statement)
      .all()
      .map((row) => Object.assign({}, row) as Row);
  } finally {
    db.close();
  }
}

/** A SQLite database of this version, whatever happened to the processes that wrote to it. */
export function assertInvariants(file: string): void {
  assert.deepEqual(readRows(file, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  assert.deepEqual(readRows(file, 'PRAGMA foreign_key_check'), []);
  for (const [what, statement] of Object.entries(BROKEN))
    assert.deepEqual(readRows(file, statement), [], what);
}
