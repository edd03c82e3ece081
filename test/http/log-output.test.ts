// Contract: section 8.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { LogOutput } from '../../src/observability/log-output.ts';

const LINE = `${'x'.repeat(1_023)}\n`;

/** Lines of 1 KiB that the log keeps for a reader that takes nothing. */
const KEPT = 16 * 1_024;

const LINES = 20 * 1_024;

/** Node does not document the handle. */
function descriptorOf(stream: Writable): number {
  const { _handle } = stream as Writable & { readonly _handle: { readonly fd: number } };
  return _handle.fd;
}

test('a log whose reader comes back has the lines that fit in memory, and says how many are lost', async (t) => {
  const reader = spawn('cat');
  t.after(() => reader.kill('SIGKILL'));
  reader.kill('SIGSTOP');
  const read = text(reader.stdout);
  const lost = Promise.withResolvers<number>();
  const failures: string[] = [];
  const output = new LogOutput(descriptorOf(reader.stdin), {
    onFailure: (reason) => failures.push(reason),
    onLost: lost.resolve,
  });
  for (let line = 0; line < LINES; line++) output.write(LINE);
  assert.deepEqual(failures, ['its reader is too slow']);
  reader.kill('SIGCONT');
  const count = await lost.promise;
  output.write('the last line\n');
  await output.flush(60_000);
  reader.stdin.end();
  await once(reader, 'close');
  const lines = (await read).split('\n');
  assert.equal(lines.at(-2), 'the last line');
  assert.equal(lines.length - 2, LINES - count);
  // A chunk is dropped as a whole, and what a pipe holds comes on top.
  assert.ok(Math.abs(LINES - count - KEPT) < KEPT / 16);
});

test('the last lines wait neither for a device that fails nor for a reader without end', (t) => {
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const stuck = spawn('cat');
  t.after(() => stuck.kill('SIGKILL'));
  stuck.kill('SIGSTOP');
  for (const descriptor of [full, descriptorOf(stuck.stdin)]) {
    const output = new LogOutput(descriptor, { onFailure: () => undefined, onLost: () => undefined });
    for (let line = 0; line < 2_000; line++) output.write(LINE);
    output.flushSync();
  }
});
