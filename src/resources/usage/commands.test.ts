// Contract: sections 6.9 and 8.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { DAY, steadyClock, HOUR } from '../../domain/clock.ts';

import { run, runJson, temporaryEnvironment, type Variables } from '../../../test/support/process.ts';
import { openStore } from '../../../test/support/store.ts';
import { newKey } from '../../../test/cli/prepared.ts';

const TODAY = Math.floor(Date.now() / DAY);

function dateOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

/** A database with two accounts, and usage of today and of 10, 40 and 50 days ago. */
async function withUsage(t: TestContext): Promise<Variables> {
  const variables = temporaryEnvironment(t);
  const store = openStore(
    variables['DATABASE_URL'] ?? '',
    steadyClock(Date.now, () => performance.now()),
  );
  await newKey(store, '=shop, "large"', '-2+3');
  await newKey(store, 'other', 'a, b');
  await newKey(store, 'other', 'old');
  const count = (keyId: number, day: number, operation: string, ok: number) => ({
    hour: (day * DAY) / HOUR,
    keyId,
    operation,
    counts: [ok, 2, 3, 4] as const,
  });
  const counts = [
    count(1, TODAY, 'listPets', 10),
    count(1, TODAY - 10, 'createPet', 30),
    count(2, TODAY, 'listPets', 7),
    count(2, TODAY - 40, 'listPets', 1),
    count(3, TODAY - 50, 'listPets', 5),
  ];
  await store.usageHistory.add({ writer: 'test', sequence: 1, counts });
  await store.close();
  return variables;
}

const sum = (ok: number, rows = 1) => ({
  ok,
  clientError: 2 * rows,
  refused: 3 * rows,
  serverError: 4 * rows,
});

test('usage --by shows the history by key, account, operation and day', async (t) => {
  const variables = await withUsage(t);
  const usage = (...args: string[]) => runJson<unknown>(['usage', ...args], variables);
  assert.deepEqual(await usage('--by', 'operation'), [
    { operation: 'createPet', ...sum(30) },
    { operation: 'listPets', ...sum(17, 2) },
  ]);
  assert.deepEqual(await usage('--by', 'key'), [
    { keyId: 1, label: '-2+3', account: '=shop, "large"', ...sum(40, 2) },
    { keyId: 2, label: 'a, b', account: 'other', ...sum(7) },
  ]);
  assert.deepEqual(await usage('--by', 'account', '--since', '60d'), [
    { accountId: 1, account: '=shop, "large"', ...sum(40, 2) },
    { accountId: 2, account: 'other', ...sum(13, 3) },
  ]);
  assert.deepEqual(await usage('--by', 'day', '--since', '60d', '--account', 'other'), [
    { day: dateOf(TODAY - 50), ...sum(5) },
    { day: dateOf(TODAY - 40), ...sum(1) },
    { day: dateOf(TODAY), ...sum(7) },
  ]);
  assert.deepEqual(await usage('--by', 'operation', '--since', dateOf(TODAY)), [
    { operation: 'listPets', ...sum(17, 2) },
  ]);
  const { stdout } = await run(['usage', '--by', 'day'], variables);
  assert.deepEqual(
    stdout.split('\n').map((line) => line.trim().split(/ {2,}/)),
    [
      ['DAY', 'OK', 'CLIENT ERROR', 'REFUSED', 'SERVER ERROR'],
      [dateOf(TODAY - 10), '30', '2', '3', '4'],
      [dateOf(TODAY), '17', '4', '6', '8'],
      [''],
    ],
  );
});

test('usage --by key,day shows each day, the oldest first', async (t) => {
  const variables = await withUsage(t);
  const usage = (...args: string[]) => runJson<unknown>(['usage', ...args], variables);
  const [shop, other] = [
    { keyId: 1, label: '-2+3', account: '=shop, "large"' },
    { keyId: 2, label: 'a, b', account: 'other' },
  ];
  assert.deepEqual(await usage('--by', 'key,day'), [
    { day: dateOf(TODAY - 10), ...shop, ...sum(30) },
    { day: dateOf(TODAY), ...shop, ...sum(10) },
    { day: dateOf(TODAY), ...other, ...sum(7) },
  ]);
  assert.deepEqual(await usage('--by', 'operation,day', '--account', 'other', '--since', '41d'), [
    { day: dateOf(TODAY - 40), operation: 'listPets', ...sum(1) },
    { day: dateOf(TODAY), operation: 'listPets', ...sum(7) },
  ]);
  const { stdout } = await run(['usage', '--by', 'account,day', '--csv'], variables);
  assert.match(stdout, /^day,accountId,account,ok,clientError,refused,serverError\r\n/);
});

test('usage --until leaves out the days from then on', async (t) => {
  const variables = await withUsage(t);
  const usage = (...args: string[]) => runJson<unknown>(['usage', '--by', 'day', ...args], variables);
  assert.deepEqual(await usage('--until', dateOf(TODAY)), [{ day: dateOf(TODAY - 10), ...sum(30) }]);
  assert.deepEqual(await usage('--since', '60d', '--until', dateOf(TODAY - 39)), [
    { day: dateOf(TODAY - 50), ...sum(5) },
    { day: dateOf(TODAY - 40), ...sum(1) },
  ]);
});

test('usage --csv quotes cells, and no cell is a formula', async (t) => {
  const variables = await withUsage(t);
  const { stdout } = await run(['usage', '--by', 'key', '--csv'], variables);
  assert.equal(
    stdout,
    [
      'keyId,label,account,ok,clientError,refused,serverError',
      `1,'-2+3,"'=shop, ""large""",40,4,6,8`,
      '2,"a, b",other,7,2,3,4',
      '',
    ].join('\r\n'),
  );
});

const WRONG = [
  [['--since', '30d'], '--since is for the history, so it needs --by.'],
  [['--until', '1d'], '--until is for the history, so it needs --by.'],
  [['--by', 'day', '--since', '5d', '--until', '9d'], '--since must not be after --until.'],
  [['--csv'], '--csv is for the history, so it needs --by.'],
  [['--by', 'day', '--since', '800d'], '--since is too early: usage is kept for 25 months by the day.'],
  [['--by', 'day', '--since', dateOf(TODAY + 2)], '--since must not be after now.'],
  [['--by', 'week'], "option '--by <what>' argument 'week' is invalid."],
  [['--by', 'day', '--csv', '--json'], "option '--csv' cannot be used with option '--json'"],
] as const;

test('a usage range that is refused exits 2 with one line', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['migrate'], variables);
  for (const [args, reason] of WRONG) {
    const { code, stdout, stderr } = await run(['usage', ...args], variables);
    assert.deepEqual([code, stdout], [2, '']);
    assert.ok(stderr.startsWith(`petstore: ${reason}`), stderr);
  }
  const { code, stderr } = await run(['usage', '--by', 'day', '--account', 'nobody'], variables);
  assert.deepEqual([code, stderr], [1, 'petstore: There is no account nobody.\n']);
});
