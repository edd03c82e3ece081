// Contract: sections 2 and 8.
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { call } from '../support/api.ts';
import {
  run,
  runJson,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
} from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { withShop } from './prepared.ts';

const CSV = `id,name,categoryId,status,note
900,Rex,7,available,brown

901,,7,sold,red
902,"Anna ""the
cat"", Maria",-9223372036854775808,,"two
lines"
903,Bo,9223372036854775808,available,
904,Cy,7,lost,
905,Di,7
906,Fi "x",7,sold,
907,Gus,007,sold,
908, Ümit ,9223372036854775.807e3,pending,
`;

const REFUSED = `line 4: name must not be empty or only white space.
line 8: categoryId must be an integer from -9223372036854775808 to 9223372036854775807.
line 9: status must be one of available, pending, sold. Column status holds "lost": translate it with --map 'status=status:VALUE=RESULT'.
line 10: the row has 3 fields where the header has 5.
line 11: a field that holds a quote must stand in quotes, with the quotes in it doubled.
line 12: categoryId must be an integer from -9223372036854775808 to 9223372036854775807.
`;

const SUMMARY = `imported 3, refused 6
Read as: CSV, 1 blank row skipped.
Not read: note.
3 animals have a categoryId that no category has: an export of animals holds no categories (export --what categories does).
        2  categoryId must be an integer from -9223372036854775808 to 9223372036854775807.
        1  name must not be empty or only white space.
        1  status must be one of available, pending, sold. Column status holds "lost": translate it with --map 'status=status:VALUE=RESULT'.
        1  the row has 3 fields where the header has 5.
        1  a field that holds a quote must stand in quotes, with the quotes in it doubled.
`;

const IMPORTED = `{"id":1,"name":"Rex","categoryId":7,"status":"available"}
{"id":2,"name":"Anna \\"the\\ncat\\", Maria","categoryId":-9223372036854775808}
{"id":3,"name":" Ümit ","categoryId":9223372036854775807,"status":"pending"}
`;

const catalogue = async (variables: Variables) => (await run(['export'], variables)).stdout;

test('import of CSV names line and reason of each refused row, takes the others, and exits 3', async (t) => {
  const variables = temporaryEnvironment(t);
  const file = join(temporaryFolder(t), 'animals.csv');
  writeFileSync(file, CSV);
  const { code, stdout, stderr } = await run(['import', file], variables);
  assert.equal(stderr, REFUSED);
  assert.equal(stdout, SUMMARY);
  assert.equal(code, 3);
  assert.equal(await catalogue(variables), IMPORTED);
});

test('lines are counted the same with CRLF line ends and a byte order mark', async (t) => {
  const variables = temporaryEnvironment(t);
  const text = `\uFEFF${CSV.replaceAll('\n', '\r\n')}`;
  const { stdout, stderr } = await run(['import', '-', '--format', 'csv'], variables, text);
  assert.equal(stderr, REFUSED);
  assert.equal(stdout, SUMMARY);
});

test('import --json prints only one JSON value, with counts and refusals', async (t) => {
  const variables = temporaryEnvironment(t);
  const { code, stdout, stderr } = await run(['import', '-', '--json'], variables, CSV);
  assert.equal(code, 3);
  assert.equal(stderr, '');
  assert.equal(stdout.trimEnd().split('\n').length, 1);
  const refusals = REFUSED.trimEnd()
    .split('\n')
    .map((text) => /^line (\d+): (.*)$/.exec(text) ?? [])
    .map(([, line, reason]) => ({ line: Number(line), reason }));
  const reasons = SUMMARY.trimEnd()
    .split('\n')
    .slice(4)
    .map((text) => ({ reason: text.slice(11), rows: Number(text.slice(0, 9)) }));
  assert.deepEqual(JSON.parse(stdout), {
    refusals,
    reasons,
    dryRun: false,
    imported: 3,
    refused: 6,
    categories: [],
    readAs: { format: 'CSV', delimiter: 'commas', encoding: 'UTF-8', lineEnds: [], blankRows: 1 },
    notRead: [{ column: 'note' }],
    uncategorized: 3,
  });
});

test('a row with a stray quote does not affect the rows after it', async (t) => {
  const variables = temporaryEnvironment(t);
  const text = `name,categoryId\n"Rex,1\n${'Bo,3\n'.repeat(3_000)}5" x,2\nok,1\n`;
  const { stdout, stderr } = await run(['import', '-', '--format', 'csv'], variables, text);
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'line 2: a quoted field begins here and does not end.',
    'line 3003: a field that holds a quote must stand in quotes, with the quotes in it doubled.',
  ]);
  assert.match(stdout, /^imported 3001, refused 2\n/);
});

const NDJSON = [
  '{"id":900,"name":"Rex","categoryId":7,"status":"available","colour":"brown"}',
  '',
  '{"name":"Big","categoryId":9223372036854775807}',
  '{"name":"Round","categoryId":9223372036854775808}',
  '{"name":"Text","categoryId":"7"}',
  '{"name":"Null","categoryId":7,"status":null}',
  '{"name":"Thousand","categoryId":1e3}',
  '{"name":"Cut","categoryId":',
  '["Rex",7]',
  `{"name":"Deep","categoryId":${'['.repeat(50_000)}`,
].join('\n');

test('import of NDJSON keeps int64 exact and gives the reason of each refused line', async (t) => {
  const variables = temporaryEnvironment(t);
  const { code, stdout, stderr } = await run(['import', '-'], variables, NDJSON);
  assert.equal(code, 3);
  assert.match(stdout, /^imported 3, refused 6\n/);
  const range = 'categoryId must be an integer from -9223372036854775808 to 9223372036854775807.';
  assert.deepEqual(stderr.trimEnd().split('\n').slice(0, 5), [
    `line 4: ${range}`,
    `line 5: ${range.slice(0, -1)}, not a string.`,
    `line 6: status must be one of available, pending, sold. Column status holds "": translate it with --map 'status=status:VALUE=RESULT'.`,
    'line 8: the line is not valid JSON.',
    'line 9: the line holds no JSON object.',
  ]);
  assert.match(stderr, /line 10: the line is (not valid JSON|nested too deeply)\.\n$/);
  assert.equal(
    await catalogue(variables),
    '{"id":1,"name":"Rex","categoryId":7,"status":"available"}\n' +
      '{"id":2,"name":"Big","categoryId":9223372036854775807}\n' +
      '{"id":3,"name":"Thousand","categoryId":1000}\n',
  );
});

test('a line that is not UTF-8 or cannot be stored is refused, the others are imported', async (t) => {
  const bytes = Buffer.concat([
    Buffer.from('{"name":"a'),
    Buffer.of(0xff),
    Buffer.from('","categoryId":1}\n{"name":"\\u0000","categoryId":1}\n{"name":"\\ud800","categoryId":1}\n'),
    Buffer.from(`{"name":"${'x'.repeat(2_000_000)}"}\n{"name":"b","categoryId":1}`),
  ]);
  const { stdout, stderr } = await run(['import', '-'], temporaryEnvironment(t), bytes);
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'line 1: the line is not encoded in UTF-8. If the file is in Windows-1252, import it with --encoding windows-1252.',
    'line 2: name must not contain a NUL character.',
    'line 3: name must not contain a lone surrogate.',
    'line 4: the line is longer than 1048576 bytes.',
  ]);
  assert.match(stdout, /^imported 1, refused 4\n/);
});

test('import --atomic reports every refused row, imports none, and exits 1', async (t) => {
  const variables = temporaryEnvironment(t);
  const text = `name,categoryId\n${'Rex,7\n'.repeat(2_500)},7\n${'Rex,7\n'.repeat(2_500)}Rex,x\n`;
  const { code, stdout, stderr } = await run(['import', '-', '--atomic'], variables, text);
  assert.equal(code, 1);
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'line 2502: name must not be empty or only white space.',
    'line 5003: categoryId must be an integer from -9223372036854775808 to 9223372036854775807.',
    'petstore: Nothing was imported: --atomic allows no refused row.',
  ]);
  assert.match(stdout, /^imported 0, refused 2\n/);
  assert.equal(await catalogue(variables), '');
  const json = await run(['import', '-', '--atomic', '--json'], variables, text);
  assert.equal(json.code, 1);
  assert.equal((JSON.parse(json.stdout) as { imported: number }).imported, 0);
});

test('import --atomic of a correct file imports all of it', async (t) => {
  const variables = temporaryEnvironment(t);
  const rows = Array.from({ length: 2_500 }, (_, index) => `Rex ${index},${index}`).join('\n');
  const result = await runJson(['import', '-', '--atomic'], variables, `name,categoryId\n${rows}`);
  assert.deepEqual(result, {
    refusals: [],
    reasons: [],
    dryRun: false,
    imported: 2_500,
    refused: 0,
    categories: [],
    readAs: { format: 'CSV', delimiter: 'commas', encoding: 'UTF-8', lineEnds: [], blankRows: 0 },
    uncategorized: 1_000,
  });
  assert.match(await catalogue(variables), /\{"id":2500,"name":"Rex 2499","categoryId":2499\}\n$/);
});

test('the running service lists imported animals at once', async (t) => {
  const { variables, key } = await withShop(t);
  const { url } = await startServiceProcess(t, variables);
  await runJson(['import', '-'], variables, 'name,categoryId\nRex,7\n');
  assert.equal((await call(url, '/v1/pets', { key })).text, '[{"id":1,"name":"Rex","categoryId":7}]');
});

const NOTHING = { imported: 0, refused: 0, categories: [], uncategorized: 0 };

test('an import that ends before its first row says why and that it imported nothing, and creates nothing', async (t) => {
  const folder = temporaryFolder(t);
  const variables = { DATABASE_URL: `sqlite:${join(folder, 'petstore.db')}` };
  const missing = join(folder, 'animals.csv');
  assert.deepEqual(await run(['import', missing], variables), {
    code: 1,
    stdout: 'imported 0, refused 0\n',
    stderr: `petstore: Cannot read ${missing}: no such file or directory.\n`,
  });
  writeFileSync(missing, 'Names,categoryId\nRex,7\n');
  assert.deepEqual(await run(['import', missing, '--json'], variables), {
    code: 1,
    stdout: `${JSON.stringify({ refusals: [], reasons: [], dryRun: false, ...NOTHING })}\n`,
    stderr:
      'petstore: The file has no column name; did you mean Names? ' +
      'It has Names, categoryId. --map chooses columns.\n',
  });
  assert.deepEqual(readdirSync(folder), ['animals.csv']);
});

test('import --account adds animals for an account, and a mistyped name adds none', async (t) => {
  const { variables } = await withShop(t);
  const file = join(temporaryFolder(t), 'animals.csv');
  writeFileSync(file, 'name,categoryId\nRex,7\n');
  const imported = async (...args: string[]) => run(['import', file, ...args], variables);
  for (const args of [[], ['--atomic'], ['--dry-run']])
    assert.deepEqual(await imported('--account', 'shp', ...args), {
      code: 1,
      stdout: `${args.includes('--dry-run') ? 'would import' : 'imported'} 0, refused 0\n`,
      stderr: 'petstore: There is no account shp. Did you mean shop?\n',
    });
  const nowhere = { DATABASE_URL: `sqlite:${join(temporaryFolder(t), 'none.db')}` };
  const dry = await run(['import', file, '--dry-run', '--account', 'shop'], nowhere);
  assert.deepEqual([dry.code, dry.stderr], [1, 'petstore: There is no account shop.\n']);
  await imported();
  await imported('--account', 'SHOP');
  await imported('--account', 'shop', '--atomic');
  const pets = await runJson<readonly { id: number; owner?: string }[]>(['pets', 'list'], variables);
  assert.deepEqual(
    pets.map(({ owner }) => owner),
    ['shop', 'shop', undefined],
  );
  const entries = await runJson<readonly { action: string; account: string | null }[]>(['audit'], variables);
  assert.deepEqual(
    entries
      .filter(({ action }) => action.startsWith('import'))
      .map(({ action, account }) => [action, account]),
    [
      ['import', 'shop'],
      ['import end', 'shop'],
      ['import start', 'shop'],
      ['import end', null],
      ['import start', null],
    ],
  );
});
