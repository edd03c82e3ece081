// Contract: sections 7 and 8.4.
import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import { start, temporaryEnvironment, waitFor } from '../support/process.ts';
import { INTERRUPT, startOnTerminal } from '../support/terminal.ts';
import { test } from '../support/test.ts';

const ADDRESS = /Reference +(http\S+)/;

const GREEN = '\u001b[32m';

/** The text without colours and carriage returns. */
function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r', '');
}

test('on a terminal a start prints one banner, and then readable lines', async (t) => {
  const variables = { ...temporaryEnvironment(t), CONSOLE_PORT: '0' };
  const service = startOnTerminal(t, ['serve', '--first-key'], variables);
  await waitFor(service, ({ stdout }) => (stdout.includes('seed 1000') ? true : undefined));
  assert.match(plain(service.stdout()), /^\n {2}Pet Store \S+ \(production\)\n\n {2}API +http/);
  const [, reference = ''] = ADDRESS.exec(plain(service.stdout())) ?? [];
  await fetch(reference);
  await waitFor(service, ({ stdout }) => (stdout.includes('GET /reference') ? true : undefined));
  service.child.stdin?.write(INTERRUPT);
  const { stdout } = await service.ended;
  const [, lines = ''] = plain(stdout).split('seed 1000\n\n');
  assert.match(
    lines.replace('^C', ''),
    /^[\d:.]{12} INFO: 200 GET \/reference {2}\S+ ms {2}\S{20}\n[\d:.]{12} INFO: stopping\n[\d:.]{12} INFO: stopped\n$/,
  );
  assert.ok(stdout.includes(`${GREEN}INFO`));
});

test('on a terminal plain serve prints the addresses, and no key or link', async (t) => {
  const variables = { ...temporaryEnvironment(t), CONSOLE_PORT: '0', NO_COLOR: '1' };
  const service = startOnTerminal(t, ['serve'], variables);
  await waitFor(service, ({ stdout }) => (stdout.includes('Console') ? true : undefined));
  service.child.stdin?.write(INTERRUPT);
  const { stdout } = await service.ended;
  assert.match(stdout, ADDRESS);
  assert.match(stdout, /WARN: no key for production is valid/);
  assert.doesNotMatch(stdout, /petstore_live_|sign-in#/);
  assert.equal(plain(stdout), stdout.replaceAll('\r', ''), 'no colours');
});

test('LOG_FORMAT decides, whatever the output is', async (t) => {
  const json = startOnTerminal(t, ['serve'], { ...temporaryEnvironment(t), LOG_FORMAT: 'json' });
  const line = await waitFor(json, ({ stdout }) => /^\{.*"listening"\}/m.exec(stdout)?.[0]);
  assert.equal((JSON.parse(line) as { environment: string }).environment, 'production');
  assert.doesNotMatch(json.stdout(), ADDRESS);

  const pretty = start(['serve'], { ...temporaryEnvironment(t), LOG_FORMAT: 'pretty' });
  t.after(() => pretty.child.kill('SIGKILL'));
  await waitFor(pretty, ({ stderr }) => ADDRESS.exec(stderr)?.[1]);
  pretty.child.kill('SIGTERM');
  const { stdout, stderr } = await pretty.ended;
  assert.match(stdout, /^[\d:.]{12} WARN: no key .*\n[\d:.]{12} INFO: stopping\n[\d:.]{12} INFO: stopped\n$/);
  assert.match(stderr, /^\n {2}Pet Store /);
});
