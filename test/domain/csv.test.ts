// Contract: section 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvText, listCell, quoted, quotedCell } from '../../src/domain/csv.ts';

test('a quoted text doubles its quotes, and no text is an empty cell', () => {
  assert.equal(quoted('a "b" "c"'), '"a ""b"" ""c"""');
  assert.equal(quoted(''), '""');
  assert.equal(quoted(undefined), '');
});

test('texts in one cell stand between semicolons, and those that would not read back in quotes', () => {
  assert.equal(listCell([]), '');
  assert.equal(listCell(['a', 'b c', 'd;e', 'f"g', 'h\r', 'i\n']), 'a;b c;"d;e";"f""g";"h\r";"i\n"');
});

test('no spreadsheet takes a text for a formula', () => {
  for (const start of ['=', '+', '-', '@', '\t', '\r']) assert.equal(quotedCell(`${start}1`), `"'${start}1"`);
  assert.equal(quotedCell('a=1'), '"a=1"');
  assert.equal(quotedCell(undefined), '');
});

test('a table has a line for each row, and quotes only where it must', () => {
  const rows = [
    ['name', 'requests'],
    ['a,b', 1],
    ['"', -1],
    ['x\ny', 0],
    ['x\ry', null],
    ['=1', undefined],
    ['plain', ''],
  ];
  assert.equal(
    csvText(rows),
    'name,requests\r\n"a,b",1\r\n"""",-1\r\n"x\ny",0\r\n"x\ry",\r\n\'=1,\r\nplain,\r\n',
  );
});
