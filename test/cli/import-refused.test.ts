// Contract: section 8.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, temporaryEnvironment } from '../support/process.ts';
import { smallDisk } from '../support/small-disk.ts';
import { temporaryFolder } from '../support/temporary.ts';

const CSV =
  '\uFEFFid,name,categoryId\r\n1,Rex,7\r\n2,,7\r\n3,"Bo\r\n\r\nthe ""cat""",x\r\n4,Cy\r\n5,Di,7\r\n6,Fi,x';

test('--refused keeps the refused rows as they came, below the header', async (t) => {
  const variables = temporaryEnvironment(t);
  const file = join(temporaryFolder(t), 'refused.csv');
  const { code, stdout } = await run(['import', '-', '--refused', file], variables, CSV);
  assert.equal(code, 3);
  assert.match(stdout, /^imported 2, refused 4\n/);
  const kept = CSV.replace('1,Rex,7\r\n', '').replace('5,Di,7\r\n', '');
  assert.equal(readFileSync(file, 'utf8'), `${kept}\n`);
  const corrected = readFileSync(file, 'utf8').replaceAll(/,x\r?\n/g, ',8\n');
  assert.match((await run(['import', '-'], variables, corrected)).stdout, /^imported 2, refused 2\n/);
});

test('--refused keeps lines of NDJSON byte by byte, and says which are too long', async (t) => {
  const file = join(temporaryFolder(t), 'refused.ndjson');
  const refused = Buffer.from([0x7b, 0xff, 0x7d, 0x0a]);
  const long = Buffer.from(`{"name":"${'x'.repeat(2_000_000)}"}\n`);
  const input = Buffer.concat([refused, long, Buffer.from('{"name":"Rex","categoryId":7}\n')]);
  const { stderr } = await run(['import', '-', '--refused', file], temporaryEnvironment(t), input);
  assert.deepEqual(readFileSync(file), refused);
  const lack = `petstore: ${file} lacks 1 of the refused rows, because their lines are longer than 1048576 bytes.\n`;
  assert.ok(stderr.endsWith(lack), stderr);
});

test('--refused overwrites no file, and leaves none when no row is refused', async (t) => {
  const variables = temporaryEnvironment(t);
  const file = join(temporaryFolder(t), 'refused.csv');
  const animals = 'name,categoryId\nRex,7\n';
  assert.equal((await run(['import', '-', '--refused', file], variables, animals)).code, 0);
  assert.equal(existsSync(file), false);
  writeFileSync(file, animals);
  const { code, stderr } = await run(['import', file, '--refused', file], variables);
  assert.equal(code, 1);
  assert.equal(stderr, `petstore: Cannot write ${file}: file already exists.\n`);
  assert.equal(readFileSync(file, 'utf8'), animals);
  assert.equal((await run(['export'], variables)).stdout, '{"id":1,"name":"Rex","categoryId":7}\n');
});

test('--refused leaves no file when the disk cannot hold one row', async (t) => {
  const { folder, fill } = smallDisk(t);
  fill();
  const file = join(folder, 'refused.csv');
  const { code, stderr } = await run(['import', '-', '--dry-run', '--refused', file], {}, CSV);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /petstore: Cannot write .*refused\.csv: (?:no space left on device|file too large)\.\n$/,
  );
  assert.equal(existsSync(file), false);
});

test('--dry-run reports like an import, stores nothing and makes no database', async (t) => {
  const folder = temporaryFolder(t);
  const variables = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}` };
  const text = 'name,categoryId\nRex,7\n,7\nBo,8\n';
  const { code, stdout, stderr } = await run(['import', '-', '--dry-run'], variables, text);
  assert.equal(code, 3);
  assert.equal(stderr, 'line 3: name must not be empty or only white space.\n');
  assert.match(stdout, /^would import 2, refused 1\n/);
  const json = await run(['import', '-', '--dry-run', '--json'], variables, text);
  const { dryRun, imported } = JSON.parse(json.stdout) as { dryRun: boolean; imported: number };
  assert.deepEqual([json.code, dryRun, imported], [3, true, 2]);
  assert.deepEqual(readdirSync(folder), []);
});

test('an import of which every row is refused exits 1, a dry run too', async (t) => {
  const variables = temporaryEnvironment(t);
  const text = 'name,categoryId\nRex,x\n,7\n';
  const { code, stdout, stderr } = await run(['import', '-'], variables, text);
  assert.equal(code, 1);
  assert.match(stdout, /^imported 0, refused 2\n/);
  assert.match(stderr, /\npetstore: Nothing was imported: every row is refused\.\n$/);
  const dry = await run(['import', '-', '--dry-run'], variables, text);
  assert.equal(dry.code, 1);
  assert.match(dry.stderr, /\npetstore: Nothing would be imported: every row is refused\.\n$/);
  const atomic = await run(['import', '-', '--dry-run', '--atomic'], variables, `${text}Rex,7\n`);
  assert.equal(atomic.code, 1);
  assert.match(atomic.stdout, /^would import 0, refused 2\n/);
  assert.equal((await run(['import', '-'], variables, 'name,categoryId\n')).code, 1);
});

test('the summary counts two fields at fault in one row apart', async (t) => {
  const text = 'name,categoryId,status\n,x,gone\nRex,7,gone\n';
  const { stdout, stderr } = await run(['import', '-', '--dry-run'], temporaryEnvironment(t), text);
  const [name, category, status] = [
    'name must not be empty or only white space.',
    'categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
    `status must be one of available, pending, sold. Column status holds "gone": translate it with --map 'status=status:VALUE=RESULT'.`,
  ];
  assert.equal(
    stdout,
    `would import 0, refused 2\n        2  ${status}\n        1  ${name}\n        1  ${category}\n`,
  );
  assert.ok(stderr.startsWith(`line 2: ${name} ${category} ${status}\nline 3: ${status}\n`), stderr);
});

test('the summary counts each fault of a row, the most frequent first', async (t) => {
  const rows = Array.from({ length: 1_500 }, (_, index) => `Rex,x,${index}\n,7,died\n`).join('');
  const { stdout } = await run(
    ['import', '-', '--format', 'csv', '--map', 'status=Outcome:a=sold'],
    temporaryEnvironment(t),
    `name,categoryId,Outcome\n${rows}Bo,7,died\n`,
  );
  const lines = stdout.trimEnd().split('\n');
  assert.deepEqual(lines.slice(0, 4), [
    'imported 0, refused 3001',
    '     1501  Outcome "died" is not mapped to a status.',
    '     1500  categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
    '     1500  name must not be empty or only white space.',
  ]);
  assert.equal(lines.length, 12);
  assert.equal(lines.at(-1), '     1493  other reasons');
});
