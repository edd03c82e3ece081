import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import jsonServer from 'json-server';
import { COLUMNS, petOf, type PetRow } from '../store.ts';

// Run as `node server.ts PORT DATABASE_FILE`. It keeps its data in a JSON file of its own, which it holds in memory, goes
// through for each list and writes anew for each create, without waiting for the disk; so it gets only the newest
// animals of the database. It has neither keys nor limits, and pages instead of cursors.

/** With ten times as many it answers some fifty lists a second. */
const ANIMALS = 1_000;

const [, , port, file = ''] = argv;
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-json-server-'));
process.once('SIGTERM', () => process.exit());
process.once('exit', () => rmSync(folder, { recursive: true }));

const db = new DatabaseSync(file, { readOnly: true });
const newest = db.prepare(`SELECT ${COLUMNS} FROM pets ORDER BY id DESC LIMIT ?`).all(ANIMALS);
db.close();
const pets = (newest as unknown as PetRow[]).map(petOf).toReversed();
const data = join(folder, 'pets.json');
writeFileSync(data, JSON.stringify({ pets }));

const app = jsonServer.create();
app.use(jsonServer.rewriter({ '/v1/*': '/$1' }));
app.get('/pets', ({ query }, _response, next) => {
  const { limit = '20' } = query;
  delete query['limit'];
  Object.assign(query, { _sort: 'id', _order: 'desc', _page: '1', _limit: limit });
  next();
});
app.use(jsonServer.router(data));
app.listen(Number(port), '127.0.0.1');
