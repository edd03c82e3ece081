// Contract: section 8.
import assert from 'node:assert/strict';
import { execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { suite, type TestContext } from 'node:test';
import { each } from '../support/load.ts';
import { PROGRAM, temporaryEnvironment, type Variables } from '../support/process.ts';
import { findPython } from '../support/samples.ts';
import { freePort, listening } from '../support/servers.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

/** What the service says once on standard error, below its banner if there is one. */
const ONE_LINE = /^(?:\n {2}Pet Store [^]*\n\n)?petstore: The log cannot be written: [^\n]+\n$/;

interface Outputs {
  readonly stdio: StdioOptions;
  readonly variables?: Variables;
}

/** Starts a service with these outputs. What it writes to standard error is in `stderr`, if that is a pipe. */
async function serveInto(t: TestContext, { stdio, variables = {} }: Outputs) {
  const port = await freePort();
  const env = { ...temporaryEnvironment(t), PORT: String(port), ...variables };
  const child = spawn(process.execPath, [PROGRAM, 'serve'], { env, stdio });
  t.after(() => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece;
  });
  await listening(port);
  return {
    child,
    stderr: () => stderr,
    request: (count: number, id?: string) => request(port, count, id),
    /** Makes requests until standard error has a line. */
    async requestUntilReported(): Promise<void> {
      while (!stderr.includes('The log')) await this.request(1);
    },
    /** The status and standard error of the process after SIGTERM. */
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      return { code, stderr };
    },
  };
}

/** A descriptor that is closed when the test is over. */
function open(t: TestContext, file: string, flags: string): number {
  const descriptor = openSync(file, flags);
  t.after(() => closeSync(descriptor));
  return descriptor;
}

/** Some hundred lines with it fill a pipe or a terminal. */
const LONG_ID = 'x'.repeat(128);

void suite('a log that cannot be written', { concurrency: true }, () => {
  for (const format of ['json', 'pretty'])
    test(`without room the service goes on, says so once, and writes again when there is room (${format})`, async (t) => {
      const file = join(temporaryFolder(t), 'petstore.log');
      const service = await serveInto(t, {
        stdio: ['ignore', open(t, file, 'a'), 'pipe'],
        variables: { LOG_FORMAT: format },
      });
      const limit = (bytes: string) =>
        execFileSync('prlimit', ['--pid', String(service.child.pid), `--fsize=${bytes}:`]);
      // In the middle of a line.
      limit('4000');
      await service.requestUntilReported();
      await service.request(20, 'during');
      limit('unlimited');
      while (!readFileSync(file, 'utf8').includes('after')) await service.request(1, 'after');
      const { code, stderr } = await service.stop();
      assert.match(stderr, ONE_LINE);
      assert.equal(code, 0);
      const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      assert.match(lines.at(-1) ?? '', /stopped/);
      assert.equal(lines.filter((line) => line.includes('during')).length, 20, 'no line is lost');
      // The database may not grow either, and a pretty error has lines of its own.
      const whole = format === 'json' ? /^\{.*\}$/ : /^(?:[\d:.]{12} [A-Z]+: | {4})/;
      assert.deepEqual(
        lines.filter((line) => !whole.test(line)),
        [],
      );
    });

  test('a device that fails, also under standard error, keeps nothing from running and stopping', async (t) => {
    const full = open(t, '/dev/full', 'w');
    const said = await serveInto(t, { stdio: ['ignore', full, 'pipe'] });
    await said.requestUntilReported();
    await said.request(50);
    const { code, stderr } = await said.stop();
    assert.match(stderr, ONE_LINE);
    assert.equal(code, 0);

    const silent = await serveInto(t, { stdio: ['ignore', full, full], variables: { LOG_FORMAT: 'pretty' } });
    await silent.request(50);
    assert.equal((await silent.stop()).code, 0);
  });

  test('a closed pipe keeps nothing from running and stopping', async (t) => {
    const service = await serveInto(t, { stdio: ['ignore', 'pipe', 'pipe'] });
    service.child.stdout?.destroy();
    await service.requestUntilReported();
    await service.request(50);
    const { code, stderr } = await service.stop();
    assert.match(stderr, /^petstore: The log cannot be written: EPIPE[^\n]+\n$/);
    assert.equal(code, 0);
  });

  test('a pipe that nobody reads keeps nothing from running and stopping', async (t) => {
    const service = await serveInto(t, { stdio: ['ignore', 'pipe', 'pipe'] });
    service.child.stdout?.pause();
    await service.request(3_000, LONG_ID);
    await service.requestUntilReported();
    const { code, stderr } = await service.stop();
    assert.match(stderr, /^petstore: The log cannot be written: nobody reads it\.[^\n]+\n$/);
    assert.equal(code, 0);
  });

  for (const kind of ['pipe', 'terminal', 'closed terminal']) {
    test(`a ${kind} that takes nothing under both outputs keeps nothing from running and stopping`, async (t) => {
      const service = await serveBeside(t, kind);
      await request(service.port, 1_000, LONG_ID);
      process.kill(service.pid, 'SIGTERM');
      assert.equal(await service.status(), 0);
    });
  }
});

/** Both outputs are the end of a pipe or a terminal whose other end nobody reads. Those of Node.js are sockets. */
const BESIDE = `import os, pty, subprocess, sys
other, end = (os.pipe if sys.argv[1] == 'pipe' else pty.openpty)()
service = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=end, stderr=end)
print(service.pid, flush=True)
os.close(end)
if sys.argv[1] == 'closed terminal':
    sys.stdin.readline()
    os.close(other)
print(service.wait(), flush=True)`;

async function serveBeside(t: TestContext, kind: string) {
  const port = await freePort();
  const env = { ...temporaryEnvironment(t), PORT: String(port) };
  const beside = spawn(findPython(), ['-c', BESIDE, kind, process.execPath, PROGRAM, 'serve'], { env });
  const lines = createInterface(beside.stdout)[Symbol.asyncIterator]();
  const next = async () => Number((await lines.next()).value);
  const pid = await next();
  let isOver = false;
  t.after(() => {
    if (!isOver) process.kill(pid, 'SIGKILL');
    beside.kill('SIGKILL');
  });
  await listening(port);
  beside.stdin.end('\n');
  return {
    port,
    pid,
    async status() {
      const status = await next();
      isOver = true;
      return status;
    },
  };
}

/** Makes this many requests, each of which is answered. */
async function request(port: number, count: number, id = 'x'): Promise<void> {
  const headers = { 'X-Request-Id': id };
  const urls = Array.from({ length: count }, () => `http://127.0.0.1:${port}/v1/pets`);
  await each(urls, 8, async (url) => {
    const answer = await fetch(url, { headers });
    await answer.bytes();
    assert.ok([401, 429].includes(answer.status));
  });
}
