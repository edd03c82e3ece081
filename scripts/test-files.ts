import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { shareProcess } from '../test/support/lifetime.ts';
import { measureProcessorTime, noteCost } from './test-costs.ts';

/*
 * Runs the test files of TEST_QUEUE that no other process of the run has taken, one after the other, in this process. A file
 * is a suite, so its tests begin when all of it is loaded, and its hooks begin and end with it.
 */

const folder = env['TEST_QUEUE'];
if (folder === undefined) throw new Error('Run test files with scripts/test.ts.');
const shared = shareProcess();
const files = JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8')) as string[];

for (const [index, file] of files.entries()) {
  if (!takes(join(folder, `${index}.taken`))) continue;
  const before = measureProcessorTime();
  await suite(file, async () => {
    await import(pathToFileURL(file).href);
  });
  noteCost(folder, file, measureProcessorTime() - before);
}

await shared.end();

/** Whether this process made the file: exactly one does. */
function takes(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}
