import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { run, runJson, temporaryEnvironment, type Variables } from '../support/process.ts';

/** Sets the title of a terminal, clears it, breaks the line and turns the direction of text. */
const HOSTILE = 'a\u001b]0;x\u0007\u009b2J\u007f\n\u202eb\u2066';
const ESCAPED = 'a\\u001b]0;x\\u0007\\u009b2J\\u007f\\u000a\\u202eb\\u2066';

/** Everything that a command must not print, besides the line feeds between its lines. */
const UNSAFE = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

/** A database whose account, key label and animal have hostile names. The key is banned. */
async function hostileDatabase(variables: Variables): Promise<void> {
  await runJson(['keys', 'create', '--account', 'shop', '--plan', 'free', '--label', 'record'], variables);
  const db = new DatabaseSync((variables['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  db.prepare('UPDATE accounts SET name = ?').run(HOSTILE);
  db.prepare('UPDATE keys SET label = ?').run(HOSTILE);
  db.prepare("INSERT INTO pets (name, category_id, status) VALUES (?, 1, 'sold')").run(HOSTILE);
  db.prepare("INSERT INTO operators (name, folded_name, role, created_at) VALUES (?, 'a', 'admin', 0)").run(
    HOSTILE,
  );
  db.prepare(
    `INSERT INTO audit (at, actor_kind, actor, action, target_kind, target, account_id) VALUES (0, 'operator', ?1, 'keys revoke', 'key', ?1, 1)`,
  ).run(HOSTILE);
  db.prepare(
    "INSERT INTO standings (key_id, environment, refusals, banned_until, ban_count) VALUES (1, 'production', '[]', ?, 1)",
  ).run(Date.now() + 3_600_000);
  db.close();
}

const LISTS = ['accounts list', 'keys list', 'usage', 'bans list', 'operators list', 'audit'];

test('commands escape control characters of the database, and keep columns aligned', async (t) => {
  const variables = temporaryEnvironment(t);
  await hostileDatabase(variables);
  for (const command of LISTS) {
    const { code, stdout, stderr } = await run(command.split(' '), variables);
    assert.equal(code, 0, stderr);
    assert.ok(stdout.includes(ESCAPED), `${command}: ${stdout}`);
    assert.doesNotMatch(stdout, UNSAFE);
    const [header = '', row = ''] = stdout.split('\n');
    if (command === 'accounts list') assert.equal(row.indexOf('free'), header.indexOf('PLAN'));
  }
  const { stdout } = await run(['keys', 'revoke', '1'], variables);
  assert.equal(stdout, `Key 1 of account ${ESCAPED} is revoked.\n`);
});

test('--json escapes control characters that JSON leaves raw, and keeps the value', async (t) => {
  const variables = temporaryEnvironment(t);
  await hostileDatabase(variables);
  for (const command of [...LISTS, 'export']) {
    const { stdout } = await run([...command.split(' '), '--json'], variables);
    assert.doesNotMatch(stdout, UNSAFE);
    const [{ name, account }] = JSON.parse(stdout) as [{ name?: string; account?: string }];
    assert.equal(name ?? account, HOSTILE, command);
  }
});

test('import escapes control characters of the header, of values and of the file name', async (t) => {
  const variables = temporaryEnvironment(t);
  const header = await run(['import', '-', '--format', 'csv'], variables, `"${HOSTILE}",categoryId\n`);
  assert.equal(
    header.stderr,
    `petstore: The file has no column name. It has ${ESCAPED}, categoryId. --map chooses columns.\n`,
  );
  const map = ['--map', 'categoryId=kind:Dog=1'];
  const rows = `name,kind\nRex,a\u009b2J\u202eb\n`;
  const reason = 'kind "a\u009b2J\u202eb" is not mapped to a categoryId.';
  const people = await run(['import', '-', '--format', 'csv', ...map], variables, rows);
  const escaped = 'kind "a\\u009b2J\\u202eb" is not mapped to a categoryId.\n';
  assert.ok(people.stderr.startsWith(`line 2: ${escaped}`), people.stderr);
  assert.ok(people.stdout.endsWith(`1  ${escaped}`), people.stdout);
  const machines = await run(['import', '-', '--format', 'csv', '--json', ...map], variables, rows);
  assert.doesNotMatch(machines.stdout, UNSAFE);
  assert.deepEqual(JSON.parse(machines.stdout), {
    refusals: [{ line: 2, reason }],
    reasons: [{ reason, rows: 1 }],
    dryRun: false,
    imported: 0,
    refused: 1,
    categories: [],
    readAs: { format: 'CSV', delimiter: 'commas', encoding: 'UTF-8', lineEnds: [], blankRows: 0 },
    uncategorized: 0,
  });
  const missing = await run(['import', `/nowhere/${HOSTILE}`], variables);
  assert.equal(missing.stderr, `petstore: Cannot read /nowhere/${ESCAPED}: no such file or directory.\n`);
  const unknown = await run(['export', `--${HOSTILE}`], variables);
  assert.doesNotMatch(unknown.stderr, UNSAFE);
});
