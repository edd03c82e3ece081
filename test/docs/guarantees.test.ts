// The page of guarantees names what holds each promise.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMAND = /^`npm exec -- node --test (.+)`$/;

const page = readFileSync(`${ROOT}/docs/guarantees.md`, 'utf8');
const [, promises = '', table = ''] = page.split(/^## .+$/m);
const names = Array.from(promises.matchAll(/^- \*\*(.+?)\.\*\*/gm), ([, name = '']) => name);

/** The rows of the table: promises, tests, figure, command. */
const rows = Array.from(table.matchAll(/^\| .+`npm exec .+$/gm), ([line]) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim()),
);

test('every promise has a test, and every test of the table a promise', () => {
  assert.ok(names.length > 80);
  assert.deepEqual(rows.flatMap(([some = '']) => some.split(', ')).toSorted(), names.toSorted());
});

test('every command runs the tests that its row links to, and no file that is missing', () => {
  for (const [some = '', tests = '', , command = ''] of rows) {
    const patterns = COMMAND.exec(command)?.[1]?.split(' ') ?? [];
    const found = patterns.map((pattern) => globSync(pattern, { cwd: ROOT }));
    for (const [index, files] of found.entries())
      assert.equal(files.length, patterns[index]?.split(',').length, `${some}: ${patterns[index]}`);
    const linked = Array.from(tests.matchAll(/\]\(\.\.\/(\S+\.test\.ts)\)/g), ([, file = '']) => file);
    assert.ok(patterns.length > 0, some);
    for (const file of linked) assert.ok(found.flat().includes(file), `${some}: ${file}`);
  }
});
