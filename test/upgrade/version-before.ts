import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lifetime } from '../support/lifetime.ts';
import type { Variables } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** The version before this one: what a rolling upgrade comes from. To be moved on with each release. */
export const VERSION_BEFORE = '8f38301eb9c56d26fde0d4852b1983cad5f74361';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** How long a service may take to say that it listens, in milliseconds: generous, for a busy machine. */
const START_PATIENCE = 300_000;

/** Why the version before cannot be had here, or false. A shallow clone and an export of the sources lack the history. */
export function lacksVersionBefore(): string | false {
  try {
    execFileSync('git', ['cat-file', '-e', `${VERSION_BEFORE}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return false;
  } catch {
    return `the history of this checkout lacks ${VERSION_BEFORE.slice(0, 7)}: git fetch --unshallow`;
  }
}

/** The sources of the version before in a folder of their own, with the installed packages of this checkout. */
export function checkOutVersionBefore(t: Pick<Lifetime, 'signal'>): string {
  const folder = join(temporaryFolder(t), 'before');
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', VERSION_BEFORE, 'bin', 'src', 'packages', 'package.json'], {
    cwd: ROOT,
    maxBuffer: 256 * 1024 ** 2,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const [installed, own] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(own);
  for (const name of readdirSync(installed)) symlinkSync(join(installed, name), join(own, name));
  // Those of its own sources, which change with it.
  for (const name of readdirSync(join(folder, 'packages'))) {
    rmSync(join(own, name));
    symlinkSync(join(folder, 'packages', name), join(own, name));
  }
  return folder;
}

interface Served {
  /** Without a path; undefined when it ended instead of listening. */
  readonly url: string | undefined;
  readonly code: number | null;
  readonly stderr: string;
}

/** Starts the service of a checkout in `folder`. It is killed after the test. */
export async function serve(t: Lifetime, folder: string, variables: Variables): Promise<Served> {
  const child = spawn(process.execPath, [join(folder, 'bin/petstore.js'), 'serve'], { env: variables });
  const [out, err] = [child.stdout.setEncoding('utf8'), child.stderr.setEncoding('utf8')];
  let [stdout, stderr] = ['', ''];
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`It does not listen.\n${stdout}${stderr}`)),
      START_PATIENCE,
    );
    const settle = (served: Served) => {
      clearTimeout(timer);
      resolve(served);
    };
    err.on('data', (text: string) => (stderr += text));
    out.on('data', (text: string) => {
      stdout += text;
      const line = stdout.split('\n').find((each) => each.includes('"listening"'));
      if (line?.endsWith('}') === true)
        settle({ url: (JSON.parse(line) as { url: string }).url, code: null, stderr });
    });
    void ended.then((code) => settle({ url: undefined, code, stderr }));
  });
}

/** How many migrations of PostgreSQL a checkout has, wherever it keeps them. */
export function migrationsOf(folder: string): number {
  const source = join(folder, 'src');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const own = files.filter((file) => /postgres\/migrations\/[^/]+\.sql$/.test(file));
  if (own.length === 0 || !existsSync(source)) throw new Error(`There are no migrations in ${source}.`);
  return own.length;
}

export { ROOT as THIS_VERSION };
