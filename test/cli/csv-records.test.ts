// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type CsvRecord, CsvRecords } from '../../src/cli/import/csv-records.ts';
import { type Line, readLines } from '../../src/cli/import/lines.ts';
import { rounds } from '../support/rounds.ts';

/** The records of a text that arrives in pieces of `size` bytes, with their lines as they came. */
async function recordsWithLines(text: string, size: number): Promise<readonly CsvRecord[]> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const records = new CsvRecords();
  const found: (readonly CsvRecord[])[] = [];
  for await (const line of readLines(pieces())) found.push(records.push(line));
  return [...found.flat(), ...records.end()];
}

/** The same records, each with the number of its first line. */
async function recordsOf(text: string, size: number) {
  return (await recordsWithLines(text, size)).map((record) => {
    const line = record.lines[0]?.number ?? 0;
    return 'issue' in record ? { line, issue: record.issue } : { line, fields: record.fields };
  });
}

const lineOf = (number: number, text: string): Line => ({
  number,
  text,
  bytes: Buffer.from(text),
  issue: undefined,
});

const field = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', ' ', '🐈'), maxLength: 8 });
const table = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 8 });

/** A field in quotes, or bare where that says the same. */
function written(text: string, bare: boolean): string {
  return bare && !/[",\n\r]/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}

test('any CSV table is read back, each record with the line where it starts', async () => {
  const anyCase = fc.asyncProperty(
    table,
    fc.boolean(),
    fc.constantFrom('\n', '\r\n'),
    fc.integer({ min: 1, max: 9 }),
    async (rows, bare, lineEnd, size) => {
      let line = 1;
      const expected = rows.map((fields) => {
        const record = { line, fields };
        line += fields.join('').split('\n').length;
        return record;
      });
      const text = rows
        .map((fields) => fields.map((each) => written(each, bare)).join(',') + lineEnd)
        .join('');
      assert.deepEqual(await recordsOf(text, size), expected);
    },
  );
  await fc.assert(anyCase);
});

test('an unclosed quote refuses only its own row', async () => {
  const records = await recordsOf('a,1\n"b,2\nc,3\nd,4\n', 5);
  assert.deepEqual(records, [
    { line: 1, fields: ['a', '1'] },
    { line: 2, issue: 'a quoted field begins here and does not end.' },
    { line: 3, fields: ['c', '3'] },
    { line: 4, fields: ['d', '4'] },
  ]);
});

test('an unclosed quote holds at most one mebibyte in memory', async () => {
  const records = new CsvRecords();
  records.push(lineOf(1, '"b,2'));
  let number = 1;
  let given: readonly CsvRecord[] = [];
  while (given.length === 0) given = records.push(lineOf(++number, 'c'.repeat(1_023)));
  assert.equal(number, 1_025);
  assert.equal(given.length, 1_025);
  assert.deepEqual([...records.end()], []);
});

test('rows after an unclosed quote are read, whatever their number', async () => {
  for (const count of [200_000, 300_000]) {
    const records = await recordsOf(`"b,2\n${'c,3\n'.repeat(count)}`, 65_536);
    assert.equal(records.length, count + 1);
    assert.deepEqual(records.at(-1), { line: count + 1, fields: ['c', '3'] });
  }
});

test('stray quotes refuse their row, and the next row is read', async () => {
  const records = await recordsOf('5" tall,1\n"a"b,2\n"c" ,3\nd,4', 5);
  assert.deepEqual(
    records.map((record) => ('issue' in record ? record.line : record.fields)),
    [1, 2, 3, ['d', '4']],
  );
});

/** A quoted field that begins with a comma or a line break (after quotes) can look like the end of an open one. */
const plainField = field.filter((text) => !/^"*[,\n\r]/.test(text));
const broken = fc.constantFrom(
  '"Rex,1,',
  'Rex,"1,',
  '"Rex"",1,',
  '5" x,2,',
  '"a"b,2,',
  'Rex",1,',
  '"Rex" ,1,',
);

test('a broken record refuses only itself, wherever it stands', async () => {
  const anyCase = fc.asyncProperty(
    fc.array(fc.array(plainField, { minLength: 3, maxLength: 3 }), { maxLength: 12 }),
    fc.nat(12),
    broken,
    fc.boolean(),
    fc.constantFrom('\n', '\r\n'),
    async (rows, place, record, bare, lineEnd) => {
      const at = Math.min(place, rows.length);
      const texts = rows.map((fields) => fields.map((each) => written(each, bare)).join(','));
      const all = texts.toSpliced(at, 0, record);
      let line = 1;
      const expected = all.map((text, index) => {
        const start = line;
        line += text.split('\n').length;
        return index === at ? { line: start } : { line: start, fields: rows[index < at ? index : index - 1] };
      });
      const found = await recordsOf(all.map((text) => text + lineEnd).join(''), 7);
      assert.deepEqual(
        found.map((each) => ('issue' in each ? { line: each.line } : each)),
        expected,
      );
    },
  );
  await fc.assert(anyCase, { numRuns: rounds(2_000) });
});

test('a field of up to 10,000 lines is read', async () => {
  const lines = 'c,3\n'.repeat(9_999);
  const [record, ...others] = await recordsOf(`"${lines}b",2\nd,4\n`, 65_536);
  assert.deepEqual(record, { line: 1, fields: [`${lines}b`, '2'] });
  assert.deepEqual(others, [{ line: 10_001, fields: ['d', '4'] }]);
});

test('an open quote holds at most 10,000 lines in memory', () => {
  const records = new CsvRecords();
  records.push(lineOf(1, '"b,2'));
  let number = 1;
  let given: readonly CsvRecord[] = [];
  while (given.length === 0) given = records.push(lineOf(++number, 'c'));
  assert.equal(number, 10_001);
});

test('the lines of all records put together are the lines of the file', async () => {
  const characters = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', 'a', '🐈'), maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(characters, fc.integer({ min: 1, max: 9 }), async (text, size) => {
      const records = await recordsWithLines(text, size);
      const kept = records.flatMap(({ lines }) => lines.map(({ bytes }) => bytes?.toString()));
      const isBlank = (line: string | undefined) => line?.trim() === '';
      const given = text.split('\n');
      // Blank lines between records are skipped, those within a record are kept.
      assert.deepEqual(
        kept.filter((line) => !isBlank(line)),
        given.filter((line) => !isBlank(line)),
      );
    }),
  );
});
