import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lazy } from '../../src/domain/lazy.ts';
import type { Group } from './groups.ts';

/** A change of one place of a file, which a test should notice. */
export interface Mutant {
  /** The file and its number. */
  readonly id: string;
  readonly group: string;
  readonly file: string;
  readonly number: number;
  /** From 1. */
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** What this program uses of Stryker. Its package is installed only for this program, so the compiler does not see it. */
interface Instrumenter {
  instrument(
    files: readonly { readonly name: string; readonly content: string; readonly mutate: true }[],
    options: { readonly plugins: null; readonly excludedMutations: []; readonly ignorers: [] },
  ): Promise<{
    readonly files: readonly { readonly content: string }[];
    readonly mutants: readonly {
      readonly id: string;
      readonly replacement: string;
      readonly location: { readonly start: Position; readonly end: Position };
    }[];
  }>;
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const SILENT = Object.fromEntries(['debug', 'info', 'isDebugEnabled'].map((name) => [name, () => undefined]));

/** The calls that Stryker adds: is this mutant active, and these mutants were reached. */
const CALLS = /(?<=stry(?:MutAct|Cov)_9fa48\()"[^)]*(?=\))/g;

export function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Writes each file of a group with all of its mutants into `folder`, as JavaScript: each mutant is off until its id is chosen.
 * Gives the mutants. Files that have not changed since are not made again.
 */
export async function instrument({ name, pattern }: Group, folder: string): Promise<readonly Mutant[]> {
  const files = globSync(pattern).filter((file) => !file.endsWith('.test.ts'));
  const all: Mutant[] = [];
  for (const file of files.toSorted()) {
    const source = readFileSync(file, 'utf8');
    const list = join(folder, `${file}.json`);
    let made = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Made) : undefined;
    if (made?.hash !== hash(source)) {
      const { content, mutants } = await mutate(file, source);
      made = { hash: hash(source), mutants };
      mkdirSync(dirname(list), { recursive: true });
      writeFileSync(join(folder, file), stripTypeScriptTypes(content));
      writeFileSync(list, JSON.stringify(made));
    }
    for (const mutant of made.mutants) all.push({ ...mutant, group: name });
  }
  return all;
}

async function mutate(
  file: string,
  source: string,
): Promise<{ readonly content: string; readonly mutants: Made['mutants'] }> {
  const instrumenter = await loadInstrumenter();
  const { files, mutants } = await instrumenter.instrument([{ name: file, content: source, mutate: true }], {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
  });
  return {
    // Stryker numbers the mutants of a file; the file makes the number unique.
    content: (files[0]?.content ?? '').replaceAll(CALLS, (ids) => ids.replaceAll(/"(\d+)"/g, `"${file}#$1"`)),
    // Not every number is in the list: Stryker leaves out what does not compile.
    mutants: mutants.map(({ id, replacement, location }) => ({
      id: `${file}#${id}`,
      file,
      number: Number(id),
      line: location.start.line + 1,
      original: cut(source, location.start, location.end),
      replacement,
    })),
  };
}

interface Made {
  readonly hash: string;
  readonly mutants: readonly Omit<Mutant, 'group'>[];
}

const loadInstrumenter = lazy(async (): Promise<Instrumenter> => {
  const place = join(FOLDER, 'node_modules/@stryker-mutator/instrumenter/dist/src/index.js');
  if (!existsSync(place)) execFileSync('npm', ['ci', '--prefix', FOLDER, '--no-audit', '--no-fund']);
  const loaded = (await import(place)) as { Instrumenter: new (log: unknown) => Instrumenter };
  return new loaded.Instrumenter(SILENT);
});

/** Lines and columns count from 0. */
function cut(source: string, start: Position, end: Position): string {
  const lines = source.split('\n').slice(start.line, end.line + 1);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column) ?? '';
  lines[0] = lines[0]?.slice(start.column) ?? '';
  return lines.join('\n');
}
