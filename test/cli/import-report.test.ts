import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { PROGRAM, run, temporaryEnvironment } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** More than fit into the memory of the import. */
const ROWS = 100_000;
const REASON = 'categoryId must be an integer from -9223372036854775808 to 9223372036854775807.';

const LACK =
  '1 animal has a categoryId that no category has: an export of animals holds no categories (export --what categories does).';

const NOTHING = 'petstore: Nothing was imported: every row is refused.';

/** Starts an import of rows that are all refused, in a process with little memory. */
function startImport(t: TestContext, rows: number, ...args: readonly string[]) {
  const file = join(temporaryFolder(t), 'animals.csv');
  writeFileSync(file, `name,categoryId\n${'Rex,\n'.repeat(rows)}`);
  const env = { ...temporaryEnvironment(t), NODE_OPTIONS: '--max-old-space-size=24' };
  const child = spawn(process.execPath, [PROGRAM, 'import', file, ...args], { env });
  return { child, ended: once(child, 'close').then(([code]: (number | null)[]) => code) };
}

/** Reads to the end, more slowly than the import writes. */
async function readSlowly(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    await wait(10);
  }
  return Buffer.concat(chunks).toString();
}

test('import prints the first 20 refused rows, and how many more there are', async (t) => {
  const rows = (count: number) => `name,categoryId\nBo,1\n${'Rex,\n'.repeat(count)}`;
  const importing = (count: number) => run(['import', '-'], temporaryEnvironment(t), rows(count));
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 3}: ${REASON}\n`).join('');
  assert.deepEqual(await importing(20), {
    code: 3,
    stdout: `imported 1, refused 20\n${LACK}\n       20  ${REASON}\n`,
    stderr: lines,
  });
  assert.deepEqual(await importing(7_691), {
    code: 3,
    stdout: `imported 1, refused 7691\n${LACK}\n     7691  ${REASON}\n`,
    stderr: `${lines}… and 7671 more: --refused FILE keeps them all, --json lists them.\n`,
  });
});

test('a slow reader of --json gets the whole value', async (t) => {
  const { child, ended } = startImport(t, ROWS, '--json');
  const [stdout, stderr] = await Promise.all([readSlowly(child.stdout), readSlowly(child.stderr)]);
  assert.equal(await ended, 1, stderr);
  assert.equal(stderr, `${NOTHING}\n`);
  const report = JSON.parse(stdout) as { refusals: readonly unknown[] };
  assert.deepEqual(
    { ...report, refusals: report.refusals.length },
    {
      refusals: ROWS,
      reasons: [{ reason: REASON, rows: ROWS }],
      dryRun: false,
      imported: 0,
      refused: ROWS,
      categories: [],
      readAs: { format: 'CSV', delimiter: 'commas', encoding: 'UTF-8', lineEnds: [], blankRows: 0 },
      uncategorized: 0,
    },
  );
  assert.deepEqual(report.refusals.at(-1), { line: ROWS + 1, reason: REASON });
});

for (const stream of ['stdout', 'stderr'] as const) {
  test(`an import continues when the reader of ${stream} is gone`, async (t) => {
    const { child, ended } = startImport(t, 20_000, ...(stream === 'stdout' ? ['--json'] : []));
    const other = readSlowly(stream === 'stdout' ? child.stderr : child.stdout);
    await once(child[stream], 'data');
    child[stream].destroy();
    assert.match(await other, stream === 'stdout' ? /^petstore: Nothing/ : /^imported 0, refused 20000\n/);
    assert.equal(await ended, 1);
  });
}
