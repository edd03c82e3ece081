// Contract: sections 7 and 8.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runProcess } from '../support/process.ts';

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  accounts: ['list', 'show', 'create', 'set', 'suspend', 'resume', 'rename'],
  keys: ['create', 'list', 'find', 'rotate', 'set', 'revoke'],
  pets: ['list', 'show', 'set', 'assign', 'delete'],
  bans: ['list', 'lift'],
  categories: ['list', 'create'],
  orders: ['list', 'cancel'],
  webhooks: ['list', 'show', 'enable', 'disable', 'replay'],
  operators: ['create', 'list', 'remove', 'token'],
};
const SINGLE = [
  'serve',
  'usage',
  'events',
  'listen',
  'check',
  'import',
  'seed',
  'export',
  'console',
  'audit',
  'backup',
  'restore',
  'migrate',
  'config',
  'completion',
];
const COMMANDS = [...SINGLE, ...Object.keys(GROUPS)];
const ALL = [
  ...COMMANDS,
  ...Object.entries(GROUPS).flatMap(([group, names]) => names.map((name) => `${group} ${name}`)),
];

test('every command prints --help in at most 120 columns and exits 0', async () => {
  for (const command of ALL) {
    const { code, stdout, stderr } = await run([...command.split(' '), '--help'], {});
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`^Usage: petstore ${command}\\b`));
    assert.equal(stderr, '');
    for (const line of stdout.split('\n')) assert.ok(line.length <= 120, `${command}: ${line}`);
  }
  const { stdout } = await runProcess(['--help'], {});
  for (const command of COMMANDS) assert.match(stdout, new RegExp(`^ {2}${command}\\b`, 'm'));
  assert.match(stdout, /DATABASE_URL/);
});

test('help explains a command of a group like --help of that command', async () => {
  for (const command of ['serve', 'keys', 'keys create', 'bans lift']) {
    const { code, stdout, stderr } = await run(['help', ...command.split(' ')], {});
    assert.equal(code, 0, stderr);
    assert.equal(stdout, (await run([...command.split(' '), '--help'], {})).stdout);
  }
  assert.equal((await run(['help'], {})).stdout, (await run(['--help'], {})).stdout);
});

test('help ends with notes and examples', async () => {
  const { stdout } = await run(['operators', 'token', '--help'], {});
  assert.ok(
    stdout.endsWith(`
A token also ends when its operator is removed, so make an operator for each program.

Example:
  petstore operators token billing --expires 90d
`),
    stdout,
  );
  const { stdout: other } = await run(['bans', 'lift', '--help'], {});
  assert.ok(
    other.endsWith('\nExamples:\n  petstore bans lift 7\n  petstore bans lift --account shop\n'),
    other,
  );
});

test('a wrong use exits 2, also where there is no database', async () => {
  const variables = { DATABASE_URL: 'sqlite:/nonexistent/petstore.db' };
  const { code, stderr } = await run(['accounts', 'set', 'shop'], variables);
  assert.equal(stderr, 'petstore: Name what to change: --plan, --per-minute, --per-day or --note.\n');
  assert.equal(code, 2);
});

test('an unknown command exits 2 and names the commands that there are', async () => {
  for (const args of [
    ['bans', 'fly'],
    ['help', 'bans', 'fly'],
  ]) {
    assert.deepEqual(await run(args, {}), {
      code: 2,
      stdout: '',
      stderr: "petstore: unknown command 'fly'\npetstore bans has the commands list and lift.\n",
    });
  }
  const { code, stderr } = await runProcess(['imprt'], {});
  assert.equal(code, 2);
  assert.match(
    stderr,
    /\(Did you mean import\?\)\npetstore has these commands:\n {2}serve +accounts .*\n( {2}.*\n)+ .*help\n$/,
  );
});

test('a refused argument is named', async () => {
  assert.deepEqual(await run(['bans', 'lift', 'abc'], {}), {
    code: 2,
    stdout: '',
    stderr:
      "petstore: argument <id> cannot be 'abc'. It must be a whole number from 1 to 9007199254740991.\n",
  });
});

test('no command, an unknown command or option, and a missing argument or option exit 2', async () => {
  const wrong = [
    '',
    'keys',
    'fly',
    'keys fly',
    'export --fly',
    'migrate now',
    'copy',
    'backup',
    'keys create',
  ];
  for (const args of wrong.map((each) => each.split(' ').filter((word) => word !== ''))) {
    const { code, stdout, stderr } = await run(args, {});
    assert.equal(code, 2, args.join(' '));
    assert.equal(stdout, '');
    assert.match(stderr, /^(petstore: .*\n|Usage: )/);
  }
});

test('a command names every invalid variable, one line each, and exits 2', async () => {
  const { code, stdout, stderr } = await run(['migrate'], { PORT: 'http', DATABASE_URL: 'mysql:' });
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^petstore: PORT must .*\npetstore: DATABASE_URL must .*\n$/);
});

test('a database that cannot be opened gives one clear line and exit 1', async () => {
  const { code, stdout, stderr } = await runProcess(['migrate'], { DATABASE_URL: 'sqlite:/nowhere/a.db' });
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.equal(stderr, 'petstore: The folder /nowhere of the database does not exist.\n');
});

test('an error repeats at most 1,000 characters of the command line and of variables', async () => {
  const long = `x${'🐕'.repeat(2_000)}`;
  for (const [args, env] of [
    [['migrate'], { DATABASE_URL: `sqlite:/${long}/a.db` }],
    [['migrate'], { TRUST_PROXY: long }],
    [['bans', 'lift', long], {}],
    [['fly', long], {}],
    [[long], {}],
    [[`--${long}`], {}],
    [['keys', long], {}],
  ] as const) {
    const { code, stderr } = await run([...args], env);
    assert.ok(code !== 0, args.join(' ').slice(0, 40));
    for (const line of stderr.split('\n')) assert.ok(Array.from(line).length <= 1_010, line);
    assert.ok(stderr.isWellFormed());
  }
});
