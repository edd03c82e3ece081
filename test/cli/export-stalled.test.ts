// Contract: section 8.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ReaderStalled, type Wait, writePieces } from '../../src/terminal/output.ts';
import type { PetRepository } from '../../src/resources/pets/repository.ts';
import { addPets, REX } from '../storage/fixture.ts';
import { postgresFixture } from '../storage/postgres-fixture.ts';
import { sqliteFixture } from '../storage/sqlite-fixture.ts';
import { runJson, temporaryEnvironment } from '../support/process.ts';
import { test } from '../support/test.ts';

// See docs/design/cli.md.

const SCRIPT = fileURLToPath(new URL('impatient-export.ts', import.meta.url));
const PETS = [REX, REX, REX, REX];

async function* namesOf(pets: PetRepository): AsyncGenerator<string> {
  for await (const { name } of pets.readAll()) yield name;
}

/** An export whose reader takes `taken` pieces and then no more; `passMinute` lets the minute for the next one pass. */
function exportTo(pets: PetRepository, taken: number) {
  const waits: { milliseconds: number; signal: AbortSignal }[] = [];
  const minute = Promise.withResolvers<void>();
  const wait: Wait = (milliseconds, signal) => {
    waits.push({ milliseconds, signal });
    return waits.length > taken ? minute.promise : new Promise(() => undefined);
  };
  const stalled = Promise.withResolvers<void>();
  let count = 0;
  const output = new Writable({
    write(_piece, _encoding, callback) {
      if (++count > taken) stalled.resolve();
      else callback();
    },
  });
  const ended = writePieces(namesOf(pets), output, wait);
  return { waits, ended, stalled: stalled.promise, passMinute: minute.resolve };
}

test('a reader that takes each chunk in time gets the whole export', async (t) => {
  const { store } = await sqliteFixture(t);
  await addPets(store.pets, PETS);
  const { waits, ended } = exportTo(store.pets, PETS.length);
  await ended;
  assert.deepEqual(
    waits.map(({ milliseconds, signal }) => [milliseconds, signal.aborted]),
    PETS.map(() => [60_000, true]),
  );
});

test('SQLite: an export that nobody reads for a minute ends and frees the log', async (t) => {
  const { store, raw } = await sqliteFixture(t);
  await addPets(store.pets, PETS);
  const { ended, stalled, passMinute } = exportTo(store.pets, 2);
  await stalled;
  await addPets(store.pets, PETS);
  const isPinned = () => raw().prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 1;
  assert.ok(isPinned());
  passMinute();
  await assert.rejects(ended, ReaderStalled);
  assert.ok(!isPinned());
});

test('PostgreSQL: an export that nobody reads for a minute ends its transaction', async (t) => {
  const { store, raw } = await postgresFixture(t);
  await addPets(store.pets, PETS);
  const { ended, stalled, passMinute } = exportTo(store.pets, 2);
  await stalled;
  const transactions = async () => {
    const { rows } = await raw(`SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'`);
    return rows.length;
  };
  assert.equal(await transactions(), 1);
  passMinute();
  await assert.rejects(ended, ReaderStalled);
  // The server notices the end of a connection a moment later.
  while ((await transactions()) > 0);
});

test('petstore export prints one line and exits 1 when nobody reads it', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['seed', '20000', '--random-seed', '1'], variables);
  const child = spawn(process.execPath, [SCRIPT, 'export'], {
    env: variables,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const said = text(child.stderr);
  const [code] = await once(child, 'exit');
  assert.equal(code, 1);
  assert.equal(
    await said,
    'petstore: The export is incomplete, because nobody read its output for 60 seconds: export to a file instead.\n',
  );
});
