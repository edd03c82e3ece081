import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hash, type Mutant } from './instrument.ts';
import type { Bench } from './runs.ts';

/** What a test file does while no mutant is on. */
export interface Coverage {
  readonly test: string;
  readonly hash: string;
  readonly passed: boolean;
  readonly milliseconds: number;
  /** The files of which it reached mutants, and their contents. */
  readonly sources: Readonly<Record<string, string>>;
  /** The ids of the mutants that it reached. */
  readonly reached: readonly string[];
}

/** Milliseconds: a test file that takes longer would make each of its mutants too dear. */
const LONGEST = 60_000;

/** Which mutants the test file reaches. It runs only if it has changed. */
export async function cover(
  test: string,
  { bench, folder, sources }: { bench: Bench; folder: string; sources: string },
): Promise<Coverage> {
  const place = join(folder, `${test}.json`);
  const known = existsSync(place) ? (JSON.parse(readFileSync(place, 'utf8')) as Coverage) : undefined;
  if (known?.hash === hash(readFileSync(test, 'utf8'))) return known;
  const notes = join(folder, 'reached');
  mkdirSync(folder, { recursive: true });
  rmSync(notes, { force: true });
  const {
    verdict,
    milliseconds: [milliseconds = 0],
  } = await bench.run([{ test, limit: LONGEST }], { MUTANTS_FOLDER: sources, MUTANTS_COVERED: notes });
  const reached = existsSync(notes) ? [...new Set(readFileSync(notes, 'utf8').trim().split('\n'))] : [];
  const files = [...new Set(reached.map((id) => id.slice(0, id.indexOf('#'))))];
  const coverage: Coverage = {
    test,
    hash: hash(readFileSync(test, 'utf8')),
    passed: verdict === 'passed',
    milliseconds,
    sources: Object.fromEntries(files.map((file) => [file, hash(readFileSync(file, 'utf8'))])),
    reached,
  };
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, JSON.stringify(coverage));
  return coverage;
}

/** The mutants that are reached while the files load. */
export async function findStatic(
  bench: Bench,
  { folder, sources }: { readonly folder: string; readonly sources: string },
): Promise<ReadonlySet<string>> {
  const notes = join(folder, 'static');
  rmSync(notes, { force: true });
  mkdirSync(folder, { recursive: true });
  const loading = { test: 'test/mutants/loading.ts', limit: LONGEST };
  await bench.run([loading], { MUTANTS_FOLDER: sources, MUTANTS_COVERED: notes });
  return new Set(readFileSync(notes, 'utf8').trim().split('\n'));
}

/** Gives the tests that reach a mutant. In a file that has changed since, each test that reached the file may. */
export function findTests(coverages: readonly Coverage[]): (mutant: Mutant) => readonly Coverage[] {
  const byFile = new Map<string, { readonly coverage: Coverage; readonly reached: ReadonlySet<string> }[]>();
  for (const coverage of coverages) {
    const reached = new Set(coverage.reached);
    for (const file of Object.keys(coverage.sources)) {
      const entries = byFile.get(file) ?? [];
      byFile.set(file, entries);
      entries.push({ coverage, reached });
    }
  }
  const contents = new Map(
    Array.from(byFile.keys(), (file) => [file, existsSync(file) ? hash(readFileSync(file, 'utf8')) : '']),
  );
  return ({ file, id }) =>
    (byFile.get(file) ?? [])
      .filter(({ coverage, reached }) => reached.has(id) || coverage.sources[file] !== contents.get(file))
      .map(({ coverage }) => coverage);
}
