// Contract: section 8.
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { openOutput } from '../../src/terminal/output.ts';
import { type Cell, type Column, describeDistance, instantCell } from '../../src/terminal/table.ts';
import { fakeClock } from '../support/clock.ts';
import { run, runJson, temporaryEnvironment } from '../support/process.ts';

type Row = readonly [
  id: string,
  label: string,
  plan: string,
  environment: string,
  requests: number,
  created: Cell,
];

const COLUMNS: readonly Column<Row>[] = [
  ['ID', ([id]) => id],
  ['LABEL', ([, label]) => label, { shrinks: true }],
  ['PLAN', ([, , plan]) => plan, { weight: 2 }],
  ['ENVIRONMENT', ([, , , environment]) => environment, { weight: 1 }],
  ['REQUESTS', ([, , , , requests]) => requests],
  ['CREATED', ([, , , , , created]) => created],
];

const LABEL = 'the price board at the door of the shop';

const ROWS: readonly Row[] = [
  ['1000', LABEL, 'free', 'production', 1_234_567, instantCell('2026-11-21T09:00:00.000Z')],
  ['7', 'till', 'pro', 'production', 5, instantCell(null, 'never')],
];

/** What a table writes to a terminal of this width, or to a pipe. */
async function print(columns: number | undefined, pages: readonly (readonly Row[])[] = [ROWS]) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  if (columns !== undefined) Object.assign(stdout, { isTTY: true, columns });
  const output = openOutput({ stdout, stderr }, fakeClock('2026-11-21T12:00:00Z'));
  const read = async function* () {
    yield* pages;
  };
  await output.printPages(undefined, COLUMNS, read());
  stdout.end();
  stderr.end();
  return [await text(stdout), await text(stderr)] as const;
}

test('a pipe gets exact texts in columns as wide as their widest cell', async () => {
  assert.deepEqual(await print(undefined), [
    `ID    LABEL                                    PLAN  ENVIRONMENT  REQUESTS  CREATED
1000  ${LABEL}  free  production   1234567   2026-11-21T09:00:00.000Z
7     till                                     pro   production   5         never
`,
    '',
  ]);
});

test('a wide terminal gets all columns, counts with separators and distances in time', async () => {
  assert.deepEqual(await print(120), [
    `ID    LABEL                                    PLAN  ENVIRONMENT   REQUESTS  CREATED
1000  ${LABEL}  free  production   1,234,567  3 h ago
7     till                                     pro   production           5  never
`,
    '',
  ]);
});

test('a terminal that does not know its width gets whole lines', async () => {
  assert.deepEqual(await print(0), await print(500));
});

test('a narrow terminal cuts long texts first, and then leaves out the lightest columns', async () => {
  assert.deepEqual(await print(75), [
    `ID    LABEL                           PLAN  ENVIRONMENT   REQUESTS  CREATED
1000  the price board at the door o…  free  production   1,234,567  3 h ago
7     till                            pro   production           5  never
`,
    'To fit the terminal: long texts cut. --json has all.\n',
  ]);
  assert.deepEqual(await print(60), [
    `ID    LABEL                         PLAN   REQUESTS  CREATED
1000  the price board at the door…  free  1,234,567  3 h ago
7     till                          pro           5  never
`,
    'To fit the terminal: ENVIRONMENT left out, long texts cut.\n--json has all.\n',
  ]);
  assert.deepEqual(await print(40), [
    `ID    LABEL            REQUESTS  CREATED
1000  the price boa…  1,234,567  3 h ago
7     till                    5  never
`,
    'To fit the terminal: PLAN, ENVIRONMENT\nleft out, long texts cut. --json has\nall.\n',
  ]);
});

test('later pages keep the columns of the first page, and still fit', async () => {
  const [stdout] = await print(75, [ROWS.slice(1), ROWS.slice(0, 1)]);
  assert.equal(stdout.split('\n', 1)[0], 'ID  LABEL  PLAN  ENVIRONMENT  REQUESTS  CREATED');
  assert.match(stdout, /\n1000 {2}the price board .*… {2}free {2}production {3}1,234,567 {2}3 h ago\n$/);
  for (const line of stdout.split('\n')) assert.ok(line.length <= 75, line);
});

test('a distance in time counts whole units, and far away becomes a date', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const distances: Readonly<Record<string, string>> = {
    '2026-11-21T12:00:00.999Z': 'now',
    '2026-11-21T11:59:01.000Z': '59 s ago',
    '2026-11-21T12:01:00.000Z': 'in 1 min',
    '2026-11-19T12:00:01.000Z': '47 h ago',
    '2026-11-19T12:00:00.000Z': '2 d ago',
    '2027-02-28T12:00:00.000Z': 'in 99 d',
    '2026-08-13T12:00:00.000Z': '2026-08-13',
  };
  for (const [instant, shown] of Object.entries(distances))
    assert.equal(describeDistance(Date.parse(instant), now), shown);
});

test('keys with long names fit a terminal of 80 columns', async (t) => {
  const variables = temporaryEnvironment(t);
  const [name, label] = ['a'.repeat(80), 'l'.repeat(100)];
  const scopes = 'pets:read,pets:write,store:read,store:write,events:read,keys:manage,webhooks:manage';
  const create = ['keys', 'create', '--account', name, '--plan', 'free', '--label', label];
  await runJson([...create, '--scopes', scopes, '--expires', '90d'], variables);
  for (const columns of [80, 120, 200]) {
    const { code, stdout } = await run(['keys', 'list'], variables, '', columns);
    assert.equal(code, 0);
    for (const line of stdout.split('\n')) assert.ok(line.length <= columns, line);
    assert.match(stdout, /^ID .* STATE .* EXPIRES .*\n1 .* active .* in 89 d .*never\n$/);
  }
});
