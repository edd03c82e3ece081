import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { type Ratios, ratiosOf, type Row } from './rows.ts';

const FOLDER = new URL('results/', import.meta.url);
const PROJECT = new URL('..', import.meta.url);

/** What is committed of a mode: its figures, and what one must know to judge or repeat them. */
export function record(
  { animals, rounds, seconds }: Options,
  { result, warnings = [] }: Outcome,
  now: Date,
): object {
  const [cpu] = cpus();
  return {
    date: now.toISOString(),
    commit: commit(),
    machine: {
      cpu: cpu?.model ?? 'unknown',
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

/** Writes the record of a mode in place of the last one. Gives its path within the project. */
export async function writeRecord({ mode, scale }: Options, contents: object): Promise<string> {
  const file = new URL(`${mode}${scale ? '-scale' : ''}.json`, FOLDER);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(file, `${JSON.stringify(contents, rounded, 2)}\n`);
  return file.pathname.slice(PROJECT.pathname.length);
}

/** What each scenario reached in the committed record, by its name. Rejects when there is none. */
export async function recordedRatios(): Promise<ReadonlyMap<string, Ratios>> {
  const text = await readFile(new URL('throughput.json', FOLDER), 'utf8').catch((error: unknown) => {
    throw new Error('there are no results to compare with: run `npm run bench` first', { cause: error });
  });
  const { scenarios } = JSON.parse(text) as { scenarios: Row[] };
  return new Map(scenarios.map((row) => [row.scenario, ratiosOf(row)]));
}

/** Nothing here is exact to more than four digits. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

/** With `-dirty` when files other than the results of other modes differ from it; undefined outside a clone. */
function commit(): string | undefined {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: PROJECT, encoding: 'utf8' });
  const { status, stdout } = git('rev-parse', '--short=12', 'HEAD');
  if (status !== 0) return undefined;
  const changed = git('status', '--porcelain', '--', '.', ':!bench/results').stdout;
  return stdout.trim() + (changed === '' ? '' : '-dirty');
}

function wrkVersion(): string | undefined {
  // It prints its version, and exits 1.
  return /^wrk (\S+)/.exec(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout)?.[1];
}
