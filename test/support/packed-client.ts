import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Lifetime, PROCESS } from './lifetime.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');

/** Node.js 20.0, which `npm ci` brings for this: the oldest that the client supports. */
export const NODE_20 =
  globSync(join(root, 'test/node-20/node_modules/*/bin/node'))[0] ?? 'missing: run npm ci';

/** The compiler of TypeScript 5.0, which `npm ci` brings for this: the oldest that the client supports. */
export const TYPESCRIPT_5 = join(root, 'test/typescript-5/node_modules/.bin/tsc');

/** An empty project into which the package was installed, as it would be published. */
interface Project {
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

/** A project into which the client was installed: its folder, and what was published. */
interface Installed {
  readonly folder: string;
  readonly files: readonly string[];
}

let installed: Promise<Installed> | undefined;

const options = (cwd: string, variables = {}) => ({
  cwd,
  env: { ...env, PATH: `${bin}${delimiter}${env['PATH']}`, ...variables },
});

/** A new project with the client, a copy of one that all tests of this process share. */
export async function projectWithClient(t: Pick<Lifetime, 'after'>): Promise<Project> {
  const { folder, files } = await (installed ??= install());
  const project = await mkdtemp(join(tmpdir(), 'petstore-project-'));
  t.after(() => rm(project, { recursive: true, force: true }));
  cpSync(folder, project, { recursive: true, verbatimSymlinks: true });
  return {
    files,
    write: (file, text) => writeFileSync(join(project, file), text),
    read: (file) => readFileSync(join(project, file), 'utf8'),
    run: async (program, args, variables) => (await run(program, args, options(project, variables))).stdout,
    start: (program, args, variables) => spawn(program, args, options(project, variables)),
  };
}

/** Packs the client as `npm publish` would, and installs it without any network. */
async function install(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-client-'));
  PROCESS.after(() => rm(folder, { recursive: true, force: true }));
  const project = join(folder, 'project');
  const source = join(folder, 'client');
  // Packing compiles; in a copy, tests that run at the same time do not meet.
  cpSync(join(root, 'client'), source, {
    recursive: true,
    filter: (path) => !/\/(?:dist|node_modules)$/.test(path),
  });
  mkdirSync(project);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], options(source));
  // What the scripts of the package print comes before.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
    { filename: string; files: { path: string }[] },
  ];
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  await run(
    'npm',
    ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed.filename)],
    options(project),
  );
  return { folder: project, files: packed.files.map(({ path }) => path) };
}
