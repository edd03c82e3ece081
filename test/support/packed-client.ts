import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Lifetime } from './lifetime.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');

/** Node.js 20.0, which `npm ci` brings for this: the oldest that the client supports. */
export const NODE_20 =
  globSync(join(root, 'test/node-20/node_modules/*/bin/node'))[0] ?? 'missing: run npm ci';

/** The compiler of TypeScript 5.0, which `npm ci` brings for this: the oldest that the client supports. */
export const TYPESCRIPT_5 = join(root, 'test/typescript-5/node_modules/.bin/tsc');

/** An empty project into which the package was installed, as it would be published. */
export interface Project {
  /** What was published, by path. */
  readonly files: readonly string[];
  write(file: string, text: string): void;
  read(file: string): string;
  /** Runs a program in the folder of the project; its standard output. Rejects when it fails. */
  run(program: string, args: readonly string[], variables?: Record<string, string>): Promise<string>;
  /** Starts a program there that does not end by itself. */
  start(
    program: string,
    args: readonly string[],
    variables?: Record<string, string>,
  ): ChildProcessWithoutNullStreams;
}

/** Packs the client as `npm publish` would, and installs it into a new project without any network. */
export async function projectWithClient(t: Pick<Lifetime, 'after'>): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-client-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const project = join(folder, 'project');
  const source = join(folder, 'client');
  // Packing compiles; in a copy, tests that run at the same time do not meet.
  cpSync(join(root, 'client'), source, {
    recursive: true,
    filter: (path) => !/\/(?:dist|node_modules)$/.test(path),
  });
  mkdirSync(project);
  const options = (cwd: string, variables = {}) => ({
    cwd,
    env: { ...env, PATH: `${bin}${delimiter}${env['PATH']}`, ...variables },
  });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], options(source));
  // What the scripts of the package print comes before.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[] },
  ];
  const write = (file: string, text: string) => writeFileSync(join(project, file), text);
  write('package.json', '{ "type": "module", "private": true }');
  await run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)],
    options(project),
  );
  return {
    files: packed.files.map(({ path }) => path),
    write,
    read: (file) => readFileSync(join(project, file), 'utf8'),
    run: async (program, args, variables) => (await run(program, args, options(project, variables))).stdout,
    start: (program, args, variables) => spawn(program, args, options(project, variables)),
  };
}
