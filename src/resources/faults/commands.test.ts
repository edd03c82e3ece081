// Contract: section 8.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { call } from '../../../test/support/api.ts';
import { fakeClock } from '../../../test/support/clock.ts';
import { startTestConsole } from '../../../test/support/console.ts';
import { run, runJson, temporaryEnvironment } from '../../../test/support/process.ts';
import { temporaryDatabase } from '../../../test/support/service.ts';

const LIMIT = 'The parameter limit must be an integer from 1 to 100.';

interface Row {
  readonly count: number;
  readonly code: string;
  readonly account: string | null;
}

/** A service with a console. The requests of `shop` failed three times for one cause, and those of `other` once. */
async function start(t: TestContext) {
  const databaseUrl = temporaryDatabase(t);
  // Commands have the time of the machine.
  const service = await startTestConsole(t, { databaseUrl, clock: fakeClock(Date.now()) });
  const key = await service.issueKey({ account: 'shop' });
  for (let sent = 0; sent < 3; sent++) await call(service.url, '/v1/pets?limit=0', { key });
  await call(service.url, '/v1/pets/77', { key: await service.issueKey({ account: 'other' }) });
  return { service, variables: { DATABASE_URL: databaseUrl, CONSOLE_URL: service.consoleUrl } };
}

test('faults asks the console of the service, and prints those with the same cause as one row', async (t) => {
  const { service, variables } = await start(t);
  const none = await run(['faults'], variables);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /^petstore: There is no operator: create one with petstore operators create /);
  for (const [name, role] of [
    ['ada', 'admin'],
    ['vera', 'viewer'],
  ] as const)
    await run(['operators', 'create', name, '--role', role], variables);
  const { stdout, stderr, code } = await run(['faults'], variables);
  assert.deepEqual([code, stderr], [0, '']);
  const [head = '', ...lines] = stdout.trimEnd().split('\n');
  assert.match(head, /^TIMES +LAST +CODE +REQUEST +ACCOUNT +KEY +WHY$/);
  assert.match(
    lines[0] ?? '',
    /^ *1 .* 404 not_found +GET \/v1\/pets\/\{petId\} +other +2 +There is no animal/,
  );
  assert.match(
    lines[1] ?? '',
    /^ *3 .* 400 invalid_parameter +GET \/v1\/pets +shop +1 +The parameter limit /,
  );
  assert.equal(lines.length, 2);
  const entries = await runJson<{ action: string; target: { name: string } }[]>(['audit'], variables);
  assert.deepEqual(
    entries.slice(0, 2).map(({ action, target }) => [action, target.name]),
    [
      ['operators revoke-token', 'vera'],
      ['operators token', 'vera'],
    ],
  );
  assert.deepEqual((await service.store.operators.listTokens()).items, []);
});

test('faults filters by code, operation, account and time', async (t) => {
  const { service, variables } = await start(t);
  await service.makeToken('ada');
  const list = (...args: string[]) => runJson<readonly Row[]>(['faults', ...args], variables);
  const all = await list();
  assert.deepEqual(
    all.map(({ count, code, account }) => [count, code, account]),
    [
      [1, 'not_found', 'other'],
      [3, 'invalid_parameter', 'shop'],
    ],
  );
  assert.deepEqual((all[1] as Row & { message: string }).message, LIMIT);
  for (const args of [
    ['--code', 'not_found'],
    ['--operation', 'getp'],
    ['--account', 'OTH'],
  ])
    assert.deepEqual(await list(...args), [all[0]], args.join(' '));
  assert.deepEqual(await list('--since', '1h', '--as', 'ada'), all);
  assert.deepEqual(await list('--since', '2099-01-01'), []);
  assert.equal((await run(['faults', '--code', 'nothing'], variables)).code, 2);
  assert.equal((await run(['faults', '--as', 'nobody'], variables)).code, 1);
});

test('faults follows the pages of the console', async (t) => {
  const { service, variables } = await start(t);
  await service.makeToken('ada');
  for (let index = 0; index < 101; index++) {
    const key = await service.issueKey({ account: `many ${index}` });
    await call(service.url, '/v1/nothing', { key });
  }
  const rows = await runJson<readonly Row[]>(['faults', '--account', 'many'], variables);
  assert.deepEqual([rows.length, rows[0]?.account, rows[100]?.account], [101, 'many 100', 'many 0']);
  const { stderr } = await run(['faults', '--account', 'many'], variables, '', 200);
  assert.match(stderr, /^The first 100 of 101 rows\. /m);
});

test('faults says in a line why it cannot ask the console', async (t) => {
  const { service, variables } = await start(t);
  await service.makeToken('ada');
  const silent = await run(['faults', '--console', 'http://127.0.0.1:1'], variables);
  assert.equal(silent.code, 1);
  assert.match(
    silent.stderr,
    /^petstore: The console does not answer at http:\/\/127\.0\.0\.1:1 \(.+\): start the service with CONSOLE_PORT, or name its address with --console\.\n$/,
  );
  const other = await run(['faults', '--console', service.url], variables);
  assert.deepEqual([other.code, other.stderr.split('\n').length], [1, 2]);
  // The console of another database does not know the token.
  const foreign = temporaryEnvironment(t);
  await run(['operators', 'create', 'ada', '--role', 'viewer'], foreign);
  const unknown = await run(['faults', '--console', service.consoleUrl], foreign);
  assert.match(unknown.stderr, /^petstore: The token is unknown/);
  assert.equal((await run(['faults', '--console', 'localhost'], variables)).code, 2);
});
