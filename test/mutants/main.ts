import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process, { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Coverage, cover } from './coverage.ts';
import { GROUPS } from './groups.ts';
import { proveRunner } from './handmade.ts';
import { instrument, type Mutant } from './instrument.ts';
import { report } from './report.ts';
import { openResults, type Results } from './results.ts';
import { openBench } from './runs.ts';

/*
 * Changes the source in one place after the other, and runs the tests that reach the place until one fails. With files as
 * arguments: these alone, and all of their mutants. Results are kept: a mutant is tried again only if its file or the test
 * that decided has changed.
 */

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/mutants', import.meta.url));

/** What runs in a few seconds. The long tests of processes, browsers and faults say little of a single line. */
const TESTS = [
  'src/**/*.test.ts',
  'test/{api,app,cli,client,config,console,domain,http,limits,management,pages,record,storage}/*.test.ts',
  'test/deploy/limits.test.ts',
];

const { values, positionals } = parseArgs({
  args: argv.slice(2),
  allowPositionals: true,
  options: {
    // Seconds that the tests of one mutant may take, as they took without a mutant.
    budget: { type: 'string', default: '20' },
    // Of the groups that are not settled one by one, every so manieth mutant.
    every: { type: 'string', default: '1' },
    // The test files that take part.
    tests: { type: 'string', multiple: true, default: TESTS },
    // Writes the page from the results that there are.
    report: { type: 'boolean', default: false },
  },
});
const budget = Number(values.budget) * 1000;
const every = Number(values.every);

// What was started ends with this process.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => process.exit(130));

const bench = await openBench(mkdtempSync(join(tmpdir(), 'petstore-mutants-')));
try {
  process.exitCode = await main();
} finally {
  await bench.stop();
}

async function main(): Promise<number> {
  mkdirSync(CACHE, { recursive: true });
  const [sources, folder] = [join(CACHE, 'sources'), join(CACHE, 'results')];
  const mutants: Mutant[] = [];
  for (const group of GROUPS) mutants.push(...(await instrument(group, sources)));
  if (values.report)
    return writeReport(mutants, openResults(folder, { bench, coverages: [], sources, budget }));
  const isWhole = positionals.length === 0;
  if (isWhole && !(await proveRunner(bench, join(CACHE, 'handmade')))) return 1;
  const coverages = await coverAll(sources);
  const results = openResults(folder, { bench, coverages, sources, budget });
  const chosen = mutants.filter(
    (mutant) => (isWhole || positionals.includes(mutant.file)) && isInSample(mutant),
  );
  for (const ofGroup of Map.groupBy(chosen, ({ group }) => group).values()) {
    await results.tryTogether(ofGroup);
    for (const mutant of ofGroup) {
      const { status } = await results.tryMutant(mutant);
      if (status !== 'survived' && status !== 'not reached') continue;
      const { file, line, original, replacement } = mutant;
      console.log(`${file}:${line}: ${status}: ${original} → ${replacement}`.replaceAll(/\s+/g, ' '));
    }
  }
  return isWhole ? writeReport(mutants, results) : 0;
}

function writeReport(mutants: readonly Mutant[], results: Results): number {
  const { text, gone, isGood } = report(mutants, results, new Date().toISOString().slice(0, 10));
  for (const { file, original, replacement } of gone)
    console.log(`${file}: no mutant to call equal: ${original} → ${replacement}`);
  const page = fileURLToPath(new URL('../../docs/design/mutants.md', import.meta.url));
  writeFileSync(page, text);
  const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));
  execFileSync(biome, ['format', '--write', page]);
  return isGood ? 0 : 1;
}

async function coverAll(sources: string): Promise<readonly Coverage[]> {
  const coverages: Coverage[] = [];
  for (const test of globSync(values.tests).toSorted()) {
    const coverage = await cover(test, { bench, folder: join(CACHE, 'coverage'), sources });
    if (coverage.passed) coverages.push(coverage);
    else console.log(`Left out: ${test} fails without a mutant, or takes too long.`);
  }
  return coverages;
}

function isInSample({ group, number }: Mutant): boolean {
  return number % every === 0 || GROUPS.some(({ name, settled }) => settled && name === group);
}
