import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { count } from './figures.ts';
import { type Verdict, verdictTable } from './goals.ts';
import type { Options } from './options.ts';
import { type Ratios, ratiosOf, type Row } from './rows.ts';

const FOLDER = new URL('results/', import.meta.url);
const PROJECT = new URL('..', import.meta.url);

/** The result of a mode. */
export interface Outcome {
  /** For the results file. Its values are JSON. */
  readonly result: object;
  /** For the terminal. */
  readonly text: string;
  /** Reasons to doubt the figures. */
  readonly warnings?: readonly string[];
  /** Whether a check failed. */
  readonly failed?: boolean;
}

/** Where and how long the benchmark measured, in one line. */
export function heading({ animals, rounds, seconds }: Options): string {
  const length = rounds === 1 ? `${seconds} s` : `medians of ${rounds} rounds of ${seconds} s`;
  return `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown'}; ${count(animals)} animals; ${length}`;
}

/** The outcome of a mode whose figures have one goal each. */
export function outcomeOf(
  options: Options,
  { warnings }: { readonly warnings: readonly string[] },
  verdicts: readonly Verdict[],
  figures: object,
): Outcome {
  const text = `${heading(options)}\n\n${verdictTable(verdicts)}`;
  return { result: { ...figures, verdicts }, text, warnings };
}

/** Adds to a result what a reader needs to judge or repeat it. */
export function record(options: Options, { result, warnings = [] }: Outcome, now: Date): object {
  const { animals, rounds, seconds } = options;
  return {
    date: now.toISOString(),
    commit: commit(),
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      kernel: release(),
    },
    versions: { node: process.versions.node, sqlite: process.versions.sqlite, wrk: wrkVersion() },
    options: { animals, rounds, seconds },
    warnings,
    ...result,
  };
}

/** Replaces the results file of the mode. Returns its path within the project. */
export async function writeRecord({ mode, scale }: Options, contents: object): Promise<string> {
  const file = new URL(`${mode}${scale ? '-scale' : ''}.json`, FOLDER);
  await writeFile(file, `${JSON.stringify(contents, rounded, 2)}\n`);
  return file.pathname.slice(PROJECT.pathname.length);
}

/** Reads the ratios of each scenario from the committed results. Rejects if there are none. */
export async function recordedRatios(): Promise<ReadonlyMap<string, Ratios>> {
  const text = await readFile(new URL('throughput.json', FOLDER), 'utf8').catch((error: unknown) => {
    throw new Error('there are no results to compare with: run `npm run bench` first', { cause: error });
  });
  const { scenarios } = JSON.parse(text) as { scenarios: Row[] };
  return new Map(scenarios.map((row) => [row.scenario, ratiosOf(row)]));
}

/** Four digits. No figure is more exact than that. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

/** The commit, with `-dirty` if files other than results differ from it; undefined outside a clone. */
function commit(): string | undefined {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: PROJECT, encoding: 'utf8' });
  const { status, stdout } = git('rev-parse', '--short=12', 'HEAD');
  if (status !== 0) return undefined;
  const changed = git('status', '--porcelain', '--', '.', ':!bench/results').stdout;
  return stdout.trim() + (changed === '' ? '' : '-dirty');
}

function wrkVersion(): string | undefined {
  // wrk prints its version and exits with 1.
  return /^wrk (\S+)/.exec(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout)?.[1];
}
