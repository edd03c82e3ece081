// Contract: section 8.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { openSource } from '../../src/cli/import/source.ts';
import { run, temporaryEnvironment, type Variables } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';

const TEXT = 'name,categoryId,status\nRex,1,available\nMüsli,2,sold\n';
const ANIMALS = [
  '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
  '{"id":2,"name":"Müsli","categoryId":2,"status":"sold"}',
];

const importing = (variables: Variables, input: string | Uint8Array, ...args: string[]) =>
  run(['import', '-', ...args], variables, input);

async function animals(variables: Variables): Promise<readonly string[]> {
  const { stdout } = await run(['export'], variables);
  return stdout === '' ? [] : stdout.trimEnd().split('\n');
}

const utf16 = (text: string, order: 'le' | 'be') => {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
};
const ARRAY = `[{"name":"Rex","categoryId":1,"status":"available"},\n{"name":"Müsli",\n"categoryId":2,"status":"sold"}]`;

/** What a file is, its bytes, and what the report says of it. */
const FILES: readonly (readonly [string, string | Uint8Array, string])[] = [
  ['semicolons', TEXT.replaceAll(',', ';'), 'CSV, semicolons'],
  ['tabs', TEXT.replaceAll(',', '\t'), 'CSV, tabs'],
  ['sep=', `sep=;\r\n${TEXT.replaceAll(',', ';')}`, 'CSV, semicolons'],
  ['"sep=|"', `"sep=|"\n${TEXT.replaceAll(',', '|')}`, 'CSV, fields between "|"'],
  ['CR', TEXT.replaceAll('\n', '\r'), 'CSV, CR line ends'],
  ['Windows-1252', Buffer.from(TEXT, 'latin1'), 'CSV, Windows-1252'],
  ['UTF-16 with a mark', utf16(`\uFEFF${TEXT.replaceAll(',', '\t')}`, 'le'), 'CSV, tabs, UTF-16'],
  ['UTF-16 of the other order', utf16(`\uFEFF${TEXT}`, 'be'), 'CSV, UTF-16'],
  ['UTF-16 without a mark', utf16(TEXT, 'le'), 'CSV, UTF-16'],
  ['a JSON array', ARRAY, 'a JSON array'],
  ['a JSON array in UTF-16', utf16(`\uFEFF${ARRAY}`, 'le'), 'a JSON array, UTF-16'],
  ['blank rows', `${TEXT},,\n \t\n"","\u00a0",\n,\n`, 'CSV, 4 blank rows skipped'],
];

for (const [what, bytes, readAs] of FILES)
  test(`import reads ${what}, and says so`, async (t) => {
    const variables = temporaryEnvironment(t);
    const { code, stdout, stderr } = await importing(variables, bytes);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^imported 2, refused 0\n/);
    assert.equal(stdout.split('\n')[1], `Read as: ${readAs}.`);
    assert.deepEqual(await animals(variables), ANIMALS);
  });

test('an export as one JSON value can be imported', async (t) => {
  const variables = temporaryEnvironment(t);
  await importing(variables, TEXT);
  const exported = (await run(['export', '--json'], variables)).stdout;
  const copy = temporaryEnvironment(t);
  await importing(copy, exported);
  assert.deepEqual(await animals(copy), ANIMALS);
});

test('--delimiter and --encoding win over what the file shows', async (t) => {
  const variables = temporaryEnvironment(t);
  const text = Buffer.from('name,sex;categoryId\nZoë,f;1\n', 'latin1');
  const args = ['--delimiter', 'semicolon', '--encoding', 'windows-1252', '--map', 'name=name,sex'];
  assert.equal((await importing(variables, text, ...args)).code, 0);
  assert.deepEqual(await animals(variables), ['{"id":1,"name":"Zoë,f","categoryId":1}']);
  assert.equal((await importing(variables, text, '--delimiter', 'ab')).code, 2);
  const unknown = await importing(variables, TEXT.replaceAll(',', '|'));
  assert.match(unknown.stderr, /has no column name.* --delimiter says what stands between columns/);
  const strict = await importing(temporaryEnvironment(t), Buffer.from(TEXT, 'latin1'), '--encoding', 'utf-8');
  assert.match(strict.stderr, /^line 3: the line is not encoded in UTF-8\. .* --encoding windows-1252\.\n/);
});

test('a row in another encoding than the rows before it is refused', async (t) => {
  const rows = ['name,categoryId\nM', Buffer.of(0xfc), 'sli,1\nMüsli,2\n'].map((each) => Buffer.from(each));
  // The first rows alone are longer than the beginning that is looked at.
  const long = Buffer.concat([Buffer.from('name,categoryId\n'), Buffer.from('Rex,1\n'.repeat(20_000))]);
  const late = Buffer.concat([long, Buffer.from([0x4d, 0xfc]), Buffer.from(',1\nMüsli,2\n')]);
  const mixed = await importing(temporaryEnvironment(t), Buffer.concat(rows));
  assert.match(mixed.stderr, /^line 2: the line is not encoded in UTF-8\. .* --encoding windows-1252\.\n$/);
  const file = join(temporaryFolder(t), 'late.csv');
  writeFileSync(file, late);
  const { stderr, stdout } = await run(['import', file, '--dry-run'], temporaryEnvironment(t));
  assert.match(stdout, /^would import 20001, refused 1\nRead as: CSV, Windows-1252\.\n/);
  assert.match(stderr, /^line 20003: the line is encoded in UTF-8, and one before it in Windows-1252/);
});

test('a line far behind the beginning that is not in the encoding of the file is refused by its number', async (t) => {
  const first = (text: string) => `name,categoryId\n${text}\n${'Rex,1\n'.repeat(20_000)}`;
  const cut = Buffer.from('Müsli,1\n').subarray(0, 2);
  const files: readonly (readonly [Buffer, RegExp])[] = [
    [
      Buffer.concat([Buffer.from(first('Müsli,1')), Buffer.from('M\xfcsli,1\nBo,1\n', 'latin1')]),
      /UTF-8\. .* --encoding windows-1252/,
    ],
    [Buffer.concat([Buffer.from(first('Müsli,1')), cut, Buffer.from(',1\nBo,1\n')]), /UTF-8\./],
    [Buffer.from(`${first('M\xfcsli,1')}M\x81sli,1\nBo,1\n`, 'latin1'), /Windows-1252\./],
    [
      Buffer.concat([
        utf16(`\uFEFF${first('Müsli,1')}`, 'le'),
        Buffer.of(0x00, 0xd8),
        utf16(',1\nBo,1\n', 'le'),
      ]),
      /UTF-16\./,
    ],
  ];
  for (const [bytes, issue] of files) {
    const file = join(temporaryFolder(t), 'late.csv');
    writeFileSync(file, bytes);
    const { code, stderr, stdout } = await run(['import', file, '--dry-run'], temporaryEnvironment(t));
    assert.match(stderr, /^line 20003: the line is not encoded in [^\n]+\n$/);
    assert.match(stderr, issue);
    assert.match(stdout, /^would import 20002, refused 1\n/);
    assert.equal(code, 3);
  }
});

test('a text is read the same wherever the chunks of its file end', async () => {
  const characters = fc.constantFrom(...'aé€\u{1F415}\u0A0A\u0D0A,"');
  const cuts = fc.array(fc.nat(60), { maxLength: 12 });
  const names = fc.array(characters, { minLength: 1, maxLength: 12 }).map((each) => each.join(''));
  await fc.assert(
    fc.asyncProperty(
      fc.array(names, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('utf-8' as const, 'le' as const, 'be' as const, 'windows-1252' as const),
      cuts,
      async (lines, encoding, places) => {
        const is1252 = encoding === 'windows-1252';
        const all = is1252 ? lines.map((line) => line.replaceAll(/[^aé,"]/gu, 'é')) : lines;
        const text = `name\n${all.join('\n')}\n`;
        const bytes = is1252
          ? Buffer.from(text, 'latin1')
          : encoding === 'utf-8'
            ? Buffer.from(text)
            : utf16(`\uFEFF${text}`, encoding);
        const ends = [...places.toSorted((one, other) => one - other), bytes.length];
        const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        const source = await openSource(
          '-',
          { format: 'csv', encoding: encoding === 'le' || encoding === 'be' ? 'utf-16' : encoding },
          { stdin: Readable.from(pieces.filter((piece) => piece.length > 0)) },
        );
        const read = await Array.fromAsync(source.lines);
        assert.deepEqual(
          read.map(({ text: line, issue }) => issue ?? line),
          text.trimEnd().split('\n'),
        );
      },
    ),
  );
});

test('an array that does not end refuses its last row, and the rows before it are imported', async (t) => {
  for (const [text, issue] of [
    ['[{"name":"Rex","categoryId":1},{"name":"B', 'line 1: the line is not valid JSON.'],
    ['[{"name":"Rex","categoryId":1}\n', 'line 2: the file ends before its array does.'],
    ['[{"name":"Rex","categoryId":1}]\n[]', 'line 2: the array ends before this text.'],
  ] as const) {
    const { code, stderr, stdout } = await importing(temporaryEnvironment(t), text);
    assert.equal(code, 3, text);
    assert.ok(stderr.startsWith(issue), stderr);
    assert.match(stdout, /^imported 1, /);
  }
});

test('a file without a row is a failure', async (t) => {
  const variables = temporaryEnvironment(t);
  for (const text of ['', '\n', '[]', 'name,categoryId\n', 'name,categoryId\n,\n,\n']) {
    const { code, stderr } = await importing(variables, text);
    assert.equal(code, 1, JSON.stringify(text));
    assert.equal(stderr, 'petstore: Nothing was imported: the file holds no row.\n');
  }
});

const NAMES = ['Status', 'STATUS', ' status ', '\u00a0status', 'status\u200b', '\uFEFFstatus', 'status\t'];

test('a column is found whatever its case and the blanks around it', async (t) => {
  for (const name of NAMES) {
    const variables = temporaryEnvironment(t);
    const { code, stderr } = await importing(variables, `name,categoryId,${name}\nRex,1,sold\n`);
    assert.equal(code, 0, stderr);
    await importing(variables, `${JSON.stringify({ name: 'Bo', categoryId: 1, [name]: 'sold' })}\n`);
    const mapped = ['--map', 'status=status:sold=pending'];
    await importing(variables, `name,categoryId,${name}\nCy,1,sold\n`, ...mapped);
    assert.deepEqual(await animals(variables), [
      '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}',
      '{"id":2,"name":"Bo","categoryId":1,"status":"sold"}',
      '{"id":3,"name":"Cy","categoryId":1,"status":"pending"}',
    ]);
  }
});

test('a column that could be meant twice stops the import before its first row', async (t) => {
  for (const text of [
    'name,categoryId,Status,STATUS\nRex,1,sold,\n',
    'name,categoryId,status,Status\nRex,1,sold,\n',
    'name,categoryId,status,status\nRex,1,sold,\n',
    '{"name":"Rex","categoryId":1,"Status":"sold","STATUS":"sold"}\n',
  ]) {
    const variables = temporaryEnvironment(t);
    const { code, stderr } = await importing(variables, text);
    assert.equal(code, 1, text);
    assert.match(stderr, /^petstore: The file has more than one column status/);
    assert.deepEqual(await animals(variables), []);
  }
  const chosen = temporaryEnvironment(t);
  const text = 'name,categoryId,Status,STATUS\nRex,1,sold,\n';
  assert.equal((await importing(chosen, text, '--map', 'status=Status')).code, 0);
});

test('a mapped column that no row of NDJSON has stops the import before its first row', async (t) => {
  const map = ['--map', 'status=Outcom:Adoption=sold,*='];
  const variables = temporaryEnvironment(t);
  const row = '{"name":"Rex","categoryId":1,"Outcome":"Adoption"}';
  for (const text of [`${row}\n${row}\n`, `[${row},${row}]`]) {
    const { code, stderr } = await importing(variables, text, ...map);
    assert.equal(code, 1);
    assert.match(stderr, /has no column Outcom; did you mean Outcome\?/);
    assert.deepEqual(await animals(variables), []);
  }
  const sparse = await importing(
    variables,
    '{"name":"Bo","categoryId":1}\n{"name":"Cy","categoryId":1,"Outcom":"Adoption"}\n',
    ...map,
  );
  assert.equal(sparse.code, 0, sparse.stderr);
});

test('a mapped column that comes late in a file is found', async (t) => {
  const file = join(temporaryFolder(t), 'animals.ndjson');
  const rows = `{"name":"${'x'.repeat(90)}","categoryId":1}\n`.repeat(50_000);
  writeFileSync(file, `${rows}{"name":"Cy","categoryId":1,"Outcome":"Adoption"}\n`);
  const args = ['import', file, '--dry-run', '--map', 'status=Outcome:Adoption=sold,*='];
  const { stdout } = await run(args, temporaryEnvironment(t));
  assert.match(stdout, /^would import 50001, refused 0\n/);
});

test('the report names columns that are not read, and one that may be meant', async (t) => {
  const files = [
    'id,name,categoryId,Staus,Notes,,Notes\n5,Rex,1,sold,kind,,old\n',
    '{"id":5,"name":"Rex","categoryId":1,"Staus":"sold"}\n{"name":"Bo","categoryId":1,"Notes":""}\n',
    '[{"name":"Rex","categoryId":1,"Staus":"sold","Notes":{}}]',
  ];
  for (const text of files) {
    const { code, stdout, stderr } = await importing(temporaryEnvironment(t), text);
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Not read: Staus, Notes\. Did you mean status by Staus\? --map chooses columns\.$/m,
      text,
    );
    const json = await importing(temporaryEnvironment(t), text, '--json');
    assert.deepEqual((JSON.parse(json.stdout) as { notRead: unknown }).notRead, [
      { column: 'Staus', near: 'status' },
      { column: 'Notes' },
    ]);
  }
  const read = await importing(temporaryEnvironment(t), 'name,categoryId,status,Staus\nRex,1,sold,\n');
  assert.match(read.stdout, /^Not read: Staus\.$/m);
  const mapped = ['--map', 'status=Staus'];
  const { stdout } = await importing(
    temporaryEnvironment(t),
    'name,categoryId,Staus\nRex,1,sold\n',
    ...mapped,
  );
  assert.doesNotMatch(stdout, /Not read/);
});

test('the columns that are not read are bounded in number and length', async (t) => {
  const others = (from: number) => Array.from({ length: 200 }, (_, index) => `x${from + index}`);
  const csv = `name,categoryId,${'y'.repeat(500)},\u001b[2J,${others(0).join(',')}\nRex,1,,,${','.repeat(199)}\n`;
  const rows = Array.from({ length: 50 }, (_, index) => {
    const entries = others(index * 200).map((name) => [`${name}${'y'.repeat(500)}`, 1]);
    return JSON.stringify({ name: 'Rex', categoryId: 1, ...Object.fromEntries(entries) });
  });
  for (const text of [csv, rows.join('\n')]) {
    const { stdout } = await importing(temporaryEnvironment(t), text);
    const [line = ''] = /^Not read: .*$/m.exec(stdout) ?? [];
    assert.match(line, / and more\.$/);
    assert.ok(line.length < 20 * 90, line);
    assert.ok(!stdout.includes('\u001b'));
    const json = await importing(temporaryEnvironment(t), text, '--json');
    assert.equal((JSON.parse(json.stdout) as { notRead: unknown[] }).notRead.length, 100);
  }
});
