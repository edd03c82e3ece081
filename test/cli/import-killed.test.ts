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

/** Events in the table when the update is killed: as it deletes, as it changes, and as it adds. */
const PLACES = [1, 80, 300, 800];

const openDatabase = ({ DATABASE_URL = '' }: Variables) =>
  new DatabaseSync(DATABASE_URL.slice('sqlite:'.length));

function readEvents(variables: Variables): readonly unknown[] {
  using db = openDatabase(variables);
  return db.prepare('SELECT type, version, data FROM events ORDER BY id').all();
}

/** Kills an update after it has committed this number of events. A lock on the database keeps it from committing more. */
async function killAfter(variables: Variables, file: string, events: number): Promise<void> {
  using db = openDatabase(variables);
  db.exec('PRAGMA busy_timeout = 60000');
  const count = db.prepare('SELECT count(*) AS events FROM events');
  const read = () => Number(count.get()?.['events']);
  const end = read() + events;
  const { child, ended } = start(updating(file), variables);
  // An update that ended before has an exit code.
  while (child.exitCode === null && read() < end) await new Promise(setImmediate);
  db.exec('BEGIN IMMEDIATE');
  child.kill('SIGKILL');
  assert.equal((await ended).code, null, 'it has ended before');
  db.exec('ROLLBACK');
}

const updating = (file: string) => ['import', file, '--update', '--missing', 'delete'];

test('an update that is killed at any place ends the same when it is started again, and changes nothing twice', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'after.csv');
  writeFileSync(file, AFTER);
  const whole = temporaryEnvironment(t);
  await run(['import', '-', '--update'], whole, BEFORE);
  using db = openDatabase(whole);
  const killed = PLACES.map((events) => {
    const copy = join(folder, `killed-${events}.db`);
    db.exec(`VACUUM INTO '${copy}'`);
    return { events, variables: { ...whole, DATABASE_URL: `sqlite:${copy}` } };
  });
  assert.equal((await run(updating(file), whole)).code, 0);
  const [animals, events] = [(await run(['export'], whole)).stdout, readEvents(whole)];
  for (const { events: place, variables } of killed) {
    await killAfter(variables, file, place);
    const { code, stderr } = await run(updating(file), variables);
    assert.equal(code, 0, stderr);
    assert.equal((await run(['export'], variables)).stdout, animals, `after ${place}`);
    assert.deepEqual(readEvents(variables), events, `after ${place}`);
  }
});
