import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { argv, env } from 'node:process';
import { suite } from 'node:test';
import { pathToFileURL } from 'node:url';

/*
 * Runs a quick test file once for each mutant of MUTANTS, in one process, and notes each beginning in MUTANTS_NOTES. The last
 * run has no mutant: it fails if one of the others has left something behind.
 */

const { __stryker__: active } = globalThis as unknown as { __stryker__: { activeMutant: string } };
const file = pathToFileURL(resolve(argv[2] ?? '')).href;
for (const [index, mutant] of [...(env['MUTANTS'] ?? '').split(','), 'none'].entries()) {
  appendFileSync(env['MUTANTS_NOTES'] ?? '', `began ${mutant}\n`);
  active.activeMutant = mutant;
  await suite(mutant, async () => {
    await import(`${file}?${index}`);
  });
}
