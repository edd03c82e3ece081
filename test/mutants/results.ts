import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Coverage, findStatic, findTests } from './coverage.ts';
import { isAlone } from '../../scripts/test-alone.ts';
import { findEqual } from './equal.ts';
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
const QUICK = 500;

/** Mutants that one process tries, at most and at least. */
const BATCH = 100;
const FEWEST = 3;

/** How many times as long a test file takes that must load the service, until it has run behind another one. */
const LOADING = 3;

export interface Results {
  /** Tries mutants together, with the quick tests. Those that live must be tried alone. */
  tryTogether(mutants: readonly Mutant[]): Promise<void>;
  /** Runs tests until one fails, or gives the outcome of before, if it still holds. */
  tryMutant(mutant: Mutant): Promise<Outcome>;
  find(mutant: Mutant): Outcome | undefined;
}

export function openResults(folder: string, { bench, coverages, sources, budget }: Means): Results {
  const files = new Map<string, Kept>();
  const listTests = findTests(coverages);
  const kills = new Map<string, number>();
  /** Milliseconds that test files took behind others in one process. */
  const places = join(folder, 'costs.json');
  const warm = new Map(
    existsSync(places) ? (JSON.parse(readFileSync(places, 'utf8')) as (readonly [string, number])[]) : [],
  );
  const costOf = ({ test, milliseconds }: Coverage) => warm.get(test) ?? milliseconds / LOADING;

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
    writeFileSync(places, JSON.stringify([...warm]));
    return outcome;
  };

  /** What is cheap, what is near the file, and what has killed its mutants comes first. */
  const rank = (file: string, coverage: Coverage) =>
    costOf(coverage) /
    ((isNear(coverage.test, file) ? 4 : 1) * (1 + (kills.get(`${file} ${coverage.test}`) ?? 0)));
  const choose = (file: string, candidates: readonly Coverage[], most: number): readonly Coverage[] => {
    let spent = 0;
    const sorted = candidates.toSorted((one, other) => rank(file, one) - rank(file, other));
    return sorted.filter((coverage) => {
      const cost = costOf(coverage);
      if (spent + cost > most && !isAbout(coverage.test, file)) return false;
      spent += cost;
      return true;
    });
  };
  const noteKill = (file: string, test: string) => {
    const name = `${file} ${test}`;
    kills.set(name, (kills.get(name) ?? 0) + 1);
  };

  return {
    find: (mutant) =>
      findEqual(mutant) !== undefined ? EQUAL_OUTCOME : open(mutant.file).outcomes[mutant.id],
    async tryTogether(mutants) {
      const find = ({ file, id }: Mutant) => open(file).outcomes[id];
      // What is decided while a file loads needs a process of its own.
      const atLoad = await findStatic(bench, { folder, sources });
      let rest = mutants.filter(
        (mutant) => findEqual(mutant) === undefined && !isDead(find(mutant)) && !atLoad.has(mutant.id),
      );
      const quick = new Set(
        rest.flatMap((mutant) => listTests(mutant)).filter((coverage) => costOf(coverage) < QUICK),
      );
      for (const coverage of choose(mutants[0]?.file ?? '', [...quick], budget / 10)) {
        const { test, hash: content, milliseconds } = coverage;
        const limit = PATIENCE.milliseconds + PATIENCE.times * milliseconds;
        let reached = rest.filter(
          (mutant) => listTests(mutant).includes(coverage) && !isCurrent(find(mutant), test),
        );
        if (reached.length < FEWEST) continue;
        while (reached.length > 0) {
          const part = reached.slice(0, BATCH);
          const { failed, late } = await bench.runAll(
            part.map(({ id }) => ({ test, limit, mutant: id })),
            { MUTANTS_FOLDER: sources },
          );
          const end = late === undefined ? part.length : late + 1;
          for (const [index, mutant] of part.slice(0, end).entries()) {
            const isLate = index === late;
            if (!isLate && !failed.includes(index)) continue;
            noteKill(mutant.file, test);
            decide(mutant, { status: isLate ? 'timed out' : 'killed', tests: { [test]: content } });
          }
          reached = reached.slice(end);
        }
        rest = rest.filter((mutant) => !isDead(find(mutant)));
      }
    },
    async tryMutant(mutant) {
      if (findEqual(mutant) !== undefined) return EQUAL_OUTCOME;
      const known = open(mutant.file).outcomes[mutant.id];
      const wasDead = isDead(known);
      if (known !== undefined && wasDead && isCurrent(known, Object.keys(known.tests).at(-1) ?? ''))
        return known;
      const tests: Record<string, string> = {};
      const candidates = choose(mutant.file, listTests(mutant), budget);
      // What it has outlived needs no run.
      const rounds = candidates.filter(({ test, hash: content }) => {
        if (wasDead || !isCurrent(known, test)) return true;
        tests[test] = content;
        return false;
      });
      for (const part of splitAlone(rounds)) {
        const { verdict, milliseconds } = await bench.run(
          part.map((coverage) => ({
            test: coverage.test,
            limit: PATIENCE.milliseconds + PATIENCE.times * coverage.milliseconds,
          })),
          { MUTANTS_FOLDER: sources, MUTANT: mutant.id },
        );
        const played = part.slice(0, milliseconds.length);
        for (const [index, { test, hash: content }] of played.entries()) {
          tests[test] = content;
          if (index > 0) warm.set(test, milliseconds[index] ?? 0);
        }
        if (verdict === 'passed') continue;
        noteKill(mutant.file, played.at(-1)?.test ?? '');
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

/** Whether the test stands beside the file, or in the folder of tests of its layer. */
function isNear(test: string, file: string): boolean {
  const [, layer = ''] = file.split('/');
  return isAbout(test, file) || dirname(test) === dirname(file) || dirname(test) === `test/${layer}`;
}

/** Files that share no process have one of their own, at the end. */
function splitAlone(coverages: readonly Coverage[]): readonly (readonly Coverage[])[] {
  const [shared, alone] = [false, true].map((expected) =>
    coverages.filter(({ test }) => isAlone(test) === expected),
  );
  return [shared ?? [], ...(alone ?? []).map((each) => [each])].filter((part) => part.length > 0);
}
