import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { env } from 'node:process';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { shareProcess } from '../support/lifetime.ts';
import type { Round } from './runs.ts';

/*
 * Runs the test files of MUTANTS_ROUNDS one after the other in this process, as the run of all tests does, and notes in
 * MUTANTS_NOTES when each begins. A round with a mutant turns it on, in this thread alone.
 */

const { __stryker__: active } = globalThis as unknown as { __stryker__: { activeMutant: string } };
const shared = shareProcess();
for (const [index, { test, mutant }] of (JSON.parse(env['MUTANTS_ROUNDS'] ?? '') as Round[]).entries()) {
  appendFileSync(env['MUTANTS_NOTES'] ?? '', `began ${index} ${Date.now()}\n`);
  if (mutant !== undefined) active.activeMutant = mutant;
  await suite(String(index), async () => {
    await import(`${pathToFileURL(resolve(test)).href}?${index}`);
  });
}
await shared.end();
