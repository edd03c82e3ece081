// Contract: section 8. Starts processes, and ends them by signals.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { start, temporaryEnvironment, run, type Variables } from '../support/process.ts';

const rowsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => `Rex ${first + index},1\n`).join('');

async function imported(variables: Variables): Promise<number> {
  const { stdout } = await run(['export'], variables);
  return stdout === '' ? 0 : stdout.trimEnd().split('\n').length;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  test(`an import that ${signal} ends reports how far it came`, async (t) => {
    const variables = temporaryEnvironment(t);
    const { child, ended } = start(['import', '-'], variables);
    t.after(() => child.kill('SIGKILL'));
    child.stdin?.write(`name,categoryId\n${rowsFrom(0, 1_500)}`);
    while ((await imported(variables)) < 1_000) await new Promise(setImmediate);
    child.kill(signal);
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 1, stderr);
    assert.match(stdout, /^imported 1000, refused 0\n/);
    assert.match(stdout, /^Stopped: the row in line 1002 and those below it are not imported\.$/m);
    assert.equal(stderr, `petstore: The import was stopped by ${signal}.\n`);
    assert.equal(await imported(variables), 1_000);
    const { stdout: log } = await run(['audit', '--json'], variables);
    assert.match(log, /"import end"/);
  });

test('an atomic import that a signal ends imports nothing, and says so', async (t) => {
  const variables = temporaryEnvironment(t);
  const { child, ended } = start(['import', '-', '--atomic', '--json'], variables);
  t.after(() => child.kill('SIGKILL'));
  // So many refusals that the first ones are printed at once.
  const rows = 1_000;
  child.stdin?.write(`name,categoryId\n${'Rex,x\n'.repeat(rows)}`);
  if (child.stdout !== null) await once(child.stdout, 'data');
  child.kill('SIGINT');
  const { code, stdout } = await ended;
  assert.equal(code, 1);
  const report = JSON.parse(stdout) as { readonly imported: number };
  assert.equal(report.imported, 0);
});
