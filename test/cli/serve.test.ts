// Contract: section 8.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { bannerText } from '../../src/cli/banner.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import {
  PROGRAM,
  run,
  runProcess,
  runJson,
  startServiceProcess,
  temporaryEnvironment,
  type Variables,
  waitFor,
} from '../support/process.ts';
import { findCurl } from '../support/samples.ts';
import { test } from '../support/test.ts';
import { withShop } from './prepared.ts';

const KEY = /petstore_live_[0-9A-Za-z]{38}/;

/** The lines of the banner that work in a shell. */
const SHELL_LINES = /^  export [\s\S]*?(?=\n\n  Add invented animals)/m;

test('serve --first-key prints one key on standard error, with lines that make a category and an animal', async (t) => {
  findCurl();
  const variables = temporaryEnvironment(t);
  const service = await startServiceProcess(t, variables, ['--first-key']);
  const lines = await waitFor(service, ({ stderr }) => SHELL_LINES.exec(stderr)?.[0]);
  const { stdout } = await promisify(execFile)('sh', ['-c', lines.replaceAll('curl', 'curl --silent')]);
  const rex = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
  assert.equal(stdout, `{"id":1,"name":"Dogs"}\n${rex}\n[${rex}]\n`);
  assert.doesNotMatch(service.stdout(), KEY, 'the log must not hold the key');
});

test('the first key has every scope, and its lines use a category that exists', async (t) => {
  const variables = temporaryEnvironment(t);
  await run(['migrate'], variables);
  await run(['categories', 'create', 'Birds'], variables);
  const service = await startServiceProcess(t, variables, ['--first-key']);
  const lines = await waitFor(service, ({ stderr }) => SHELL_LINES.exec(stderr)?.[0]);
  assert.match(lines, /"categoryId":1/);
  assert.doesNotMatch(lines, /"\$PETSTORE_URL\/categories"/);
  const [key] = await runJson<{ scopes: string[] }[]>(['keys', 'list'], variables);
  assert.deepEqual(key?.scopes, SCOPES);
});

test('npm start prints a sign-in link that works once, and the log never has it', async (t) => {
  const variables = { ...temporaryEnvironment(t), CONSOLE_PORT: '0' };
  const service = await startServiceProcess(t, variables, ['--first-key']);
  const link = new URL(
    await waitFor(service, ({ stderr }) => /^ {2}Console +(http\S+\/sign-in#.{43})$/m.exec(stderr)?.[1]),
  );
  const signIn = () =>
    fetch(new URL('/sign-in', link), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: link.origin },
      body: JSON.stringify({ link: link.hash.slice(1) }),
    });
  const [first, second] = [await signIn(), await signIn()];
  assert.deepEqual([first.status, second.status], [204, 401]);
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const me = await fetch(new URL('/admin/v1/me', link), { headers: { Cookie: cookie } });
  const { name, role } = (await me.json()) as Record<string, unknown>;
  assert.deepEqual([name, role], ['admin', 'admin']);

  await run(['operators', 'create', 'bob', '--role', 'viewer'], variables);
  service.child.kill('SIGTERM');
  const { stdout } = await service.ended;
  assert.equal(stdout.includes(link.hash.slice(1)), false);
  const again = await startServiceProcess(t, variables, ['--first-key']);
  const command = await waitFor(
    again,
    ({ stderr }) => /CONSOLE_URL=(\S+) npx petstore console --as NAME/.exec(stderr)?.[0],
  );
  assert.equal(again.stderr().includes('sign-in#'), false);

  // In a terminal without the port of the console.
  const { CONSOLE_PORT: _, ...others } = variables;
  const [, url = ''] = /CONSOLE_URL=(\S+)/.exec(command) ?? [];
  const { link: next } = await runJson<{ link: string }>(['console', '--as', 'bob'], {
    ...others,
    CONSOLE_URL: url,
  });
  assert.equal((await fetch(new URL('/sign-in', next))).status, 200);
});

test('each command of the banner works in a shell without the variables of the service', async (t) => {
  const variables = { ...temporaryEnvironment(t), PETSTORE_ENVIRONMENT: 'staging', CONSOLE_PORT: '0' };
  const printed = async (label: RegExp) => {
    const service = await startServiceProcess(t, variables, ['--first-key']);
    const line = await waitFor(service, ({ stderr }) => label.exec(stderr)?.[1]);
    const command = line.replace('npx petstore', `"${process.execPath}" "${PROGRAM}"`);
    const output = execFileSync('sh', ['-c', command], {
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
    const [origin = ''] = /http:\/\/localhost:\d+/.exec(service.stderr()) ?? [];
    service.child.kill('SIGTERM');
    await service.ended;
    return { output, origin };
  };
  const { output: link, origin } = await printed(/Another link: (.*)$/m);
  assert.ok(link.includes(`${origin}/sign-in#`), link);
  const { output: keys } = await printed(/^ {2}Keys +(.*)$/m);
  assert.match(keys, /staging/);
});

test('the banner shows no password', () => {
  const text = bannerText({
    environment: 'production',
    databaseUrl: 'postgres://shop:geheim@db.example/pets',
    url: 'http://127.0.0.1:8080',
    consoleUrl: 'http://localhost:8081',
    metricsUrl: undefined,
    account: 'default',
    hasColors: false,
  });
  assert.doesNotMatch(text, /geheim/);
  assert.match(text, /DATABASE_URL='postgres:\/\/shop:\*\*\*\*@db\.example\/pets' npx petstore keys list/);
});

test('npm start opens the console on port 8081, unless CONSOLE_PORT says otherwise', () => {
  const { start } = manifest.scripts;
  for (const [given, port] of [
    [{}, '8081'],
    [{ CONSOLE_PORT: '9000' }, '9000'],
    [{ CONSOLE_PORT: '' }, ''],
  ] as const) {
    const shell = start.replace(/exec .*/, 'sh -c \'printf %s "$CONSOLE_PORT"\'');
    assert.equal(
      execFileSync('sh', ['-c', shell], { env: { PATH: process.env['PATH'], ...given } }).toString(),
      port,
    );
  }
});

test('in a shared output the banner stands below the first line of the log', async (t) => {
  const command = `exec "${process.execPath}" "${PROGRAM}" serve --first-key 2>&1`;
  const child = spawn('sh', ['-c', command], { env: temporaryEnvironment(t) });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  while (!text.includes('seed 1000')) await once(child.stdout, 'data');
  assert.match(text, /^\{.*"listening"\}\n\n {2}Pet Store \S+ \(production\)\n\n {2}API +http/);
});

test('the banner names the addresses, and exports the address and the key for clients', async (t) => {
  const variables = {
    ...temporaryEnvironment(t),
    HOST: '0.0.0.0',
    PETSTORE_ENVIRONMENT: 'staging',
    METRICS_PORT: '0',
  };
  const service = await startServiceProcess(t, variables, ['--first-key']);
  const lines = await waitFor(service, ({ stderr }) => SHELL_LINES.exec(stderr)?.[0]);
  // An address of this machine, because 0.0.0.0 is none.
  const url = service.url.replace('0.0.0.0', '127.0.0.1');
  const row = (label: string) => new RegExp(`^  ${label} +(\\S+)$`, 'm').exec(service.stderr())?.[1];
  assert.deepEqual(['API', 'Reference', 'Dashboard', 'Console'].map(row), [
    `${url}/v1`,
    `${url}/reference`,
    `${url}/dashboard`,
    undefined,
  ]);
  assert.match(row('Metrics') ?? '', /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  assert.match(
    lines,
    new RegExp(`^ {2}export PETSTORE_URL=${url}/v1\n {2}export PETSTORE_API_KEY=${row('Key')}\n`),
  );
});

test('a second start with --first-key makes no key, and says how to make another', async (t) => {
  const variables = temporaryEnvironment(t);
  const first = await startServiceProcess(t, variables, ['--first-key']);
  await waitFor(first, ({ stderr }) => SHELL_LINES.exec(stderr)?.[0]);
  first.child.kill('SIGTERM');
  await first.ended;
  const second = await startServiceProcess(t, variables, ['--first-key']);
  const account = await waitFor(second, ({ stderr }) => {
    return /npx petstore keys create --account (.*)$/m.exec(stderr)?.[1];
  });
  assert.equal(account, 'default');
  assert.doesNotMatch(second.stderr(), KEY);
  assert.ok(second.stderr().includes(`${second.url}/reference`));
  const created = await run(['keys', 'create', '--account', account], variables);
  assert.match(created.stdout, /^Key 2 of account default/);
});

test('the line that makes another key works in a shell, whatever the account is called', async (t) => {
  const variables = temporaryEnvironment(t);
  await runJson(['keys', 'create', '--account', "kid's shop", '--plan', 'free'], variables);
  const service = await startServiceProcess(t, variables, ['--first-key']);
  const word = await waitFor(service, ({ stderr }) => /--account (.*)$/m.exec(stderr)?.[1]);
  const { stdout } = await promisify(execFile)('sh', ['-c', `printf %s ${word}`]);
  assert.equal(stdout, "kid's shop");
});

test('serve without a valid key says how to make one', async (t) => {
  const { variables } = await withShop(t);
  const warning = async (more: Variables) => {
    const service = await startServiceProcess(t, { ...variables, ...more });
    const line = await waitFor(service, ({ stdout }) => /^.*"warn".*$/m.exec(stdout)?.[0]);
    service.child.kill('SIGTERM');
    await service.ended;
    return line;
  };
  const staging = await warning({ PETSTORE_ENVIRONMENT: 'staging' });
  assert.match(
    staging,
    /no key for staging is valid: make one with .*petstore keys create --account NAME --plan free/,
  );
  await runJson(['accounts', 'suspend', 'shop'], variables);
  assert.match(await warning({}), /no key for production is valid/);
  await runJson(['accounts', 'resume', 'shop'], variables);
  await runJson(['keys', 'revoke', '1'], variables);
  assert.match(await warning({}), /no key for production is valid/);
});

test('serve warns of unknown variables and refuses a mistyped environment', async (t) => {
  const variables = temporaryEnvironment(t);
  const service = await startServiceProcess(t, { ...variables, PETSTORE_LOG_LEVEL: 'debug' });
  const line = await waitFor(service, ({ stdout }) => /^.*"warn".*PETSTORE_LOG_LEVEL.*$/m.exec(stdout)?.[0]);
  assert.match(
    line,
    /PETSTORE_LOG_LEVEL is not a variable of the service and has no effect: did you mean LOG_LEVEL\?/,
  );
  const refused = await runProcess(['serve'], { ...variables, PETSTORE_ENVIROMENT: 'staging' });
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
  assert.match(
    refused.stderr,
    /PETSTORE_ENVIROMENT is not a variable of the service: did you mean PETSTORE_ENVIRONMENT\?/,
  );
});

test('serve stops cleanly when its terminal goes', async (t) => {
  const service = await startServiceProcess(t, temporaryEnvironment(t));
  service.child.kill('SIGHUP');
  assert.equal((await service.ended).code, 0);
});

test('plain serve never prints a key', async (t) => {
  const variables = temporaryEnvironment(t);
  const service = await startServiceProcess(t, variables);
  service.child.kill('SIGINT');
  const { code, stdout, stderr } = await service.ended;
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.doesNotMatch(stdout, KEY);
});

test('serve logs JSON lines on standard output, with ISO time and named level', async (t) => {
  const { variables } = await withShop(t);
  const service = await startServiceProcess(t, { ...variables, LOG_LEVEL: 'info' });
  service.child.kill('SIGTERM');
  const lines = (await service.ended).stdout.trimEnd().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    entries.map(({ level, msg }) => [level, msg]),
    [
      ['info', 'listening'],
      ['info', 'stopping'],
      ['info', 'stopped'],
    ],
  );
  for (const { time } of entries) assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

/** Prints the address of each module that is loaded on standard error, with `thread` before those of a thread. */
const PRINT_LOADS = `import { registerHooks } from 'node:module';
import { isMainThread } from 'node:worker_threads';
const print = isMainThread ? console.error : (url) => process.stderr.write('thread ' + url + '\\n');
registerHooks({ load(url, context, next) { print(url); return next(url, context); } });`;

/** Adds PRINT_LOADS to the variables. */
function printingLoads(variables: Variables): Variables {
  return {
    ...variables,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRINT_LOADS)}`,
  };
}

test('a start loads neither other commands nor the description', async (t) => {
  const service = await startServiceProcess(t, printingLoads(temporaryEnvironment(t)));
  assert.match(service.stderr(), /\/src\/cli\/serve\.ts$/m);
  assert.doesNotMatch(
    service.stderr(),
    /\/src\/(?:cli\/(?:import|keys)|description|site\/reference)|pino-pretty/,
  );
  assert.equal((await fetch(`${service.url}/openapi.json`)).status, 200);
  assert.match(service.stderr(), /\/src\/description\/openapi\.ts$/m);
});

test('neither a command that writes nor the writing thread loads zod', async (t) => {
  const args = ['keys', 'create', '--account', 'shop', '--plan', 'free'];
  const { code, stderr } = await runProcess(args, printingLoads(temporaryEnvironment(t)));
  assert.equal(code, 0);
  assert.match(stderr, /^thread .*\/src\/resources\/repositories\.ts$/m);
  assert.equal(/^.*\/zod\/.*$/m.exec(stderr)?.[0], undefined);
});

test('help and refused options load neither the store nor the service', async () => {
  for (const args of [
    ['keys', '--help'],
    ['keys', 'list', '--fly'],
    ['serve', '--help'],
  ]) {
    const { stderr } = await runProcess(args, printingLoads({}));
    assert.match(stderr, /\/src\/cli\/main\.ts$/m);
    assert.equal(/^.*\/src\/(?:storage\/open|api|http)\b.*$/m.exec(stderr)?.[0], undefined);
  }
});
