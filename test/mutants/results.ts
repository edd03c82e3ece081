import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Coverage, findTests } from './coverage.ts';
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

/** Milliseconds of a test file that runs for many mutants in one process. */
const QUICK = 3_000;

/** Mutants that one process tries. */
const BATCH = 50;

export interface Results {
  /** Tries mutants of one file together, with its quick tests. Those that live must be tried alone. */
  tryTogether(mutants: readonly Mutant[]): Promise<void>;
  /** Runs tests until one fails, or gives the outcome of before, if it still holds. */
  tryMutant(mutant: Mutant): Promise<Outcome>;
  find(mutant: Mutant): Outcome | undefined;
}

export function openResults(folder: string, { bench, coverages, sources, budget }: Means): Results {
  const files = new Map<string, Kept>();
  const listTests = findTests(coverages);
  const kills = new Map<string, number>();

  const open = (file: string): Kept => {
    const known = files.get(file);
    if (known !== undefined) return known;
    const content = hash(readFileSync(file, 'utf8'));
    const place = join(folder, `${file}.json`);
    const saved = existsSync(place) ? (JSON.parse(readFileSync(place, 'utf8')) as Kept) : undefined;
    const stored = saved?.hash === content ? saved : { hash: content, outcomes: {} };
    files.set(file, stored);
    return stored;
  };
  const decide = (mutant: Mutant, outcome: Outcome): Outcome => {
    const stored = open(mutant.file);
    stored.outcomes[mutant.id] = outcome;
    const place = join(folder, `${mutant.file}.json`);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, JSON.stringify(stored));
    return outcome;
  };

  /** What is cheap, what is about the file, and what has killed its mutants comes first. */
  const rank = (file: string, { test, milliseconds }: Coverage) =>
    milliseconds /
    ((isAbout(test, file) || isOfFeature(test, file) ? 4 : 1) * (1 + (kills.get(`${file} ${test}`) ?? 0)));

  return {
    find: (mutant) => (isEqual(mutant) ? EQUAL_OUTCOME : open(mutant.file).outcomes[mutant.id]),
    async tryTogether(mutants) {
      const find = ({ file, id }: Mutant) => open(file).outcomes[id];
      let rest = mutants.filter((mutant) => !isEqual(mutant) && !isDead(find(mutant)));
      const quick = new Map(
        rest
          .flatMap((mutant) => listTests(mutant))
          .filter(({ milliseconds }) => milliseconds < QUICK)
          .map((coverage) => [coverage.test, coverage]),
      );
      const file = mutants[0]?.file ?? '';
      let spent = 0;
      for (const coverage of [...quick.values()].toSorted(
        (one, other) => rank(file, one) - rank(file, other),
      )) {
        const { test, hash: content, milliseconds } = coverage;
        if (spent + milliseconds > 5 * budget && !isAbout(test, file)) continue;
        spent += milliseconds;
        let reached = rest.filter(
          (mutant) => listTests(mutant).includes(coverage) && !isCurrent(find(mutant), test),
        );
        while (reached.length > 0) {
          const part = reached.slice(0, BATCH);
          const { failed, late } = await bench.runBatch(
            test,
            part.map(({ id }) => id),
            { MUTANTS_FOLDER: sources, MUTANT: `${file}#none` },
            PATIENCE.milliseconds + PATIENCE.times * milliseconds,
          );
          const end = late === undefined ? part.length : part.findIndex(({ id }) => id === late) + 1;
          for (const mutant of part.slice(0, end)) {
            const isLate = mutant.id === late;
            if (isLate || failed.includes(mutant.id))
              decide(mutant, { status: isLate ? 'timed out' : 'killed', tests: { [test]: content } });
          }
          reached = end === 0 ? [] : reached.slice(end);
        }
        rest = rest.filter((mutant) => !isDead(find(mutant)));
      }
    },
    async tryMutant(mutant) {
      if (isEqual(mutant)) return EQUAL_OUTCOME;
      const known = open(mutant.file).outcomes[mutant.id];
      const wasDead = isDead(known);
      if (known !== undefined && wasDead && isCurrent(known, Object.keys(known.tests).at(-1) ?? ''))
        return known;
      const tests: Record<string, string> = {};
      let spent = 0;
      const candidates = listTests(mutant).toSorted(
        (one, other) => rank(mutant.file, one) - rank(mutant.file, other),
      );
      for (const { test, milliseconds, hash: content } of candidates) {
        if (spent + milliseconds > budget && !isAbout(test, mutant.file)) continue;
        spent += milliseconds;
        if (!wasDead && isCurrent(known, test)) {
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
function isCurrent(outcome: Outcome | undefined, test: string): boolean {
  return existsSync(test) && outcome?.tests[test] === hash(readFileSync(test, 'utf8'));
}

function isDead(outcome: Outcome | undefined): boolean {
  return outcome?.status === 'killed' || outcome?.status === 'timed out';
}

/** The test of a file begins with its name. */
function isAbout(test: string, file: string): boolean {
  const name = basename(file, '.ts');
  return basename(test).startsWith(`${name}.`) || basename(test).startsWith(`${name}-`);
}

function isOfFeature(test: string, file: string): boolean {
  return dirname(test) === dirname(file);
}

function isEqual({ file, line, original, replacement }: Mutant): boolean {
  return EQUAL.some(
    (each) =>
      each.file === file &&
      each.original === original &&
      each.replacement === replacement &&
      (each.line === undefined || readLine(file, line).includes(each.line)),
  );
}

export function readLine(file: string, line: number): string {
  return readFileSync(file, 'utf8').split('\n')[line - 1]?.trim() ?? '';
}
