import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Statements } from '../../src/storage/sqlite/query.ts';

test('a connection prepares a statement once, and forgets the oldest of very many', (t) => {
  const db = new DatabaseSync(':memory:');
  t.after(() => db.close());
  const statements = new Statements(db);
  const all = Array.from({ length: 1_000 }, (_, limit) => statements.of(`SELECT 7 LIMIT ${limit + 1}`));
  assert.equal(statements.of('SELECT 7 LIMIT 1000'), all.at(-1));
  const [first] = all;
  const again = statements.of('SELECT 7 LIMIT 1');
  assert.notEqual(again, first);
  // Whoever holds a forgotten one can go on with it.
  assert.deepEqual([first?.all(), again.all()], [[[7n]], [[7n]]]);
});
