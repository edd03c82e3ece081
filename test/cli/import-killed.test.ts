// Contract: section 8.2. An update that is killed half way is started again.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { run, start, temporaryEnvironment, type Variables } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

/** More than one commit changes. */
const COUNT = 1_200;

const csv = (rows: readonly string[]) => `name,categoryId,reference\n${rows.join('\n')}\n`;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Animals as they are, and the file that changes half of them, lacks some all over, and has new ones. */
const BEFORE = csv(numbers(COUNT).map((index) => `Rex,1,A${index}`));
const AFTER = csv(
  numbers(COUNT + 200)
    .filter((index) => index % 10 !== 7 || index >= COUNT)
    .map((index) => `${index % 2 === 0 ? 'Max' : 'Rex'},1,A${index}`),
);

/**
 * Events between which the update is killed: as it deletes, as it changes, and as it adds. A commit ends within each of
 * these distances.
 */
const PLACES = [
  { from: 1, to: 60 },
  { from: 60, to: 200 },
  { from: 200, to: 500 },
  { from: 500, to: 800 },
];

const openDatabase = ({ DATABASE_URL = '' }: Variables) =>
  new DatabaseSync(DATABASE_URL.slice('sqlite:'.length));

function readEvents(variables: Variables): readonly unknown[] {
  using db = openDatabase(variables);
  return db.prepare('SELECT type, version, data FROM events ORDER BY id').all();
}

/** Kills an update when it has committed event `from`. A trigger that counts for an hour keeps it from event `to`. */
async function killBetween(
  variables: Variables,
  file: string,
  { from, to }: (typeof PLACES)[number],
): Promise<void> {
  using db = openDatabase(variables);
  // The update locks the file when it opens it.
  db.exec('PRAGMA busy_timeout = 60000');
  const last = db.prepare('SELECT max(id) AS id FROM events');
  const read = () => Number(last.get()?.['id']);
  const before = read();
  db.exec(`
    CREATE VIEW hour AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000000000) SELECT i FROM n;
    CREATE TRIGGER hold AFTER INSERT ON events WHEN NEW.id = ${before + to}
      BEGIN SELECT count(*) FROM hour; END`);
  const { child, ended } = start(updating(file), variables);
  try {
    // An update that failed has an exit code.
    while (child.exitCode === null && read() < before + from) await new Promise(setImmediate);
  } finally {
    child.kill('SIGKILL');
  }
  const { code, stderr } = await ended;
  assert.equal(code, null, stderr);
  db.exec('DROP TRIGGER hold; DROP VIEW hour');
}

const updating = (file: string) => ['import', file, '--update', '--missing', 'delete'];

test('an update that is killed at any place ends the same when it is started again, and changes nothing twice', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'after.csv');
  writeFileSync(file, AFTER);
  const whole = temporaryEnvironment(t);
  await run(['import', '-', '--update'], whole, BEFORE);
  using db = openDatabase(whole);
  const killed = PLACES.map((place) => {
    const copy = join(folder, `killed-${place.from}.db`);
    db.exec(`VACUUM INTO '${copy}'`);
    return { place, variables: { ...whole, DATABASE_URL: `sqlite:${copy}` } };
  });
  assert.equal((await run(updating(file), whole)).code, 0);
  const [animals, events] = [(await run(['export'], whole)).stdout, readEvents(whole)];
  for (const { place, variables } of killed) {
    await killBetween(variables, file, place);
    const { code, stderr } = await run(updating(file), variables);
    assert.equal(code, 0, stderr);
    assert.equal((await run(['export'], variables)).stdout, animals, `after ${place.from}`);
    assert.deepEqual(readEvents(variables), events, `after ${place.from}`);
  }
});
