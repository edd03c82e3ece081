import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Coverage } from './coverage.ts';
import { EQUAL } from './equal.ts';
import { hash, type Mutant } from './instrument.ts';
import type { Bench } from './runs.ts';

export interface Outcome {
  readonly status: 'killed' | 'timed out' | 'survived' | 'not reached' | 'equal';
  /** The tests that ran, with their contents; the last one decided. */
  readonly tests: Readonly<Record<string, string>>;
}

const EQUAL_OUTCOME: Outcome = { status: 'equal', tests: {} };

interface Kept {
  readonly hash: string;
  readonly outcomes: Record<string, Outcome>;
}

interface Means {
  readonly bench: Bench;
  readonly coverages: readonly Coverage[];
  readonly sources: string;
  /** Milliseconds of tests that a mutant may outlive. */
  readonly budget: number;
}

/** A mutant may take this many times as long as the source does, and some milliseconds more. */
const PATIENCE = { times: 5, milliseconds: 5_000 };

export interface Results {
  /** Runs tests until one fails, or gives the outcome of before, if it still holds. */
  tryMutant(mutant: Mutant): Promise<Outcome>;
  find(mutant: Mutant): Outcome | undefined;
}

export function openResults(folder: string, { bench, coverages, sources, budget }: Means): Results {
  const files = new Map<string, Kept>();
  const reaching = new Map<string, Coverage[]>();
  for (const coverage of coverages)
    for (const id of coverage.reached) reaching.set(id, [...(reaching.get(id) ?? []), coverage]);
  const kills = new Map<string, number>();

  const open = (file: string): Kept => {
    const known = files.get(file);
    if (known !== undefined) return known;
    const content = hash(readFileSync(file, 'utf8'));
    const place = join(folder, `${file}.json`);
    const saved = existsSync(place) ? (JSON.parse(readFileSync(place, 'utf8')) as Kept) : undefined;
    const kept = saved?.hash === content ? saved : { hash: content, outcomes: {} };
    files.set(file, kept);
    return kept;
  };
  const decide = (mutant: Mutant, outcome: Outcome): Outcome => {
    const kept = open(mutant.file);
    kept.outcomes[mutant.id] = outcome;
    const place = join(folder, `${mutant.file}.json`);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, JSON.stringify(kept));
    return outcome;
  };

  /** What is cheap, what is about the file, and what has killed its mutants comes first. */
  const rank = (file: string, { test, milliseconds }: Coverage) =>
    milliseconds / ((isAbout(test, file) ? 4 : 1) * (1 + (kills.get(`${file} ${test}`) ?? 0)));

  return {
    find: (mutant) => (isEqual(mutant) ? EQUAL_OUTCOME : open(mutant.file).outcomes[mutant.id]),
    async tryMutant(mutant) {
      if (isEqual(mutant)) return EQUAL_OUTCOME;
      const known = open(mutant.file).outcomes[mutant.id];
      const isDead = known?.status === 'killed' || known?.status === 'timed out';
      if (isDead && isCurrent(known, Object.keys(known.tests).at(-1) ?? '')) return known;
      const tests: Record<string, string> = {};
      let spent = 0;
      const candidates = (reaching.get(mutant.id) ?? []).toSorted(
        (one, other) => rank(mutant.file, one) - rank(mutant.file, other),
      );
      for (const { test, milliseconds, hash: content } of candidates) {
        if (spent > 0 && spent + milliseconds > budget) continue;
        spent += milliseconds;
        if (!isDead && known !== undefined && isCurrent(known, test)) {
          tests[test] = content;
          continue;
        }
        const { verdict } = await bench.run(
          test,
          { MUTANTS_FOLDER: sources, MUTANT: mutant.id },
          PATIENCE.milliseconds + PATIENCE.times * milliseconds,
        );
        tests[test] = content;
        if (verdict === 'passed') continue;
        const name = `${mutant.file} ${test}`;
        kills.set(name, (kills.get(name) ?? 0) + 1);
        return decide(mutant, { status: verdict === 'failed' ? 'killed' : 'timed out', tests });
      }
      return decide(mutant, { status: candidates.length === 0 ? 'not reached' : 'survived', tests });
    },
  };
}

/** Whether the test is as it was at this outcome. */
function isCurrent(outcome: Outcome, test: string): boolean {
  return existsSync(test) && outcome.tests[test] === hash(readFileSync(test, 'utf8'));
}

/** The test of a file has its name; those of a feature are in its folder. */
function isAbout(test: string, file: string): boolean {
  const [, folder = '', name = ''] = /([^/]+)\/([^/]+)\.ts$/.exec(file) ?? [];
  return test.includes(`/${name}`) || test.startsWith(`src/resources/${folder}/`);
}

function isEqual({ file, line, original, replacement }: Mutant): boolean {
  return EQUAL.some(
    (each) =>
      each.file === file &&
      each.original === original &&
      each.replacement === replacement &&
      (each.line === undefined || readLine(file, line).startsWith(each.line)),
  );
}

export function readLine(file: string, line: number): string {
  return readFileSync(file, 'utf8').split('\n')[line - 1]?.trim() ?? '';
}
