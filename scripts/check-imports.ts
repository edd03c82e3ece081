import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { exit } from 'node:process';
import { FEATURES } from '../src/resources/index.ts';

/*
 * Checks which folder imports which, and that no imports form a circle. Type imports count: a reader follows them too.
 * A package in `packages/` imports no file outside of it, and `src/` imports packages by their names.
 * Checks also that the writing thread of SQLite loads no package but the small one for statements.
 */

/** The folders of `src/`. A file imports from its own folder and from those after it. */
const FOLDERS = [
  'cli',
  'app',
  'pages',
  'conformance',
  'description',
  'resources',
  'http',
  'terminal',
  'limits',
  'observability',
  'storage',
  'config',
  'domain',
];

/** A feature imports from itself and from those before it. */
const RESOURCES: readonly string[] = FEATURES.map(({ name }) => name);

const problems: string[] = [];
const files = globSync(
  [
    'src/**/*.{ts,js}',
    'packages/**/*.ts',
    'client/src/**/*.ts',
    'bench/**/*.ts',
    'test/**/*.ts',
    'scripts/*.ts',
  ],
  { exclude: (path) => path.includes('node_modules') },
);
const importsOf = new Map(
  files.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, path = '']) =>
      normalize(join(dirname(file), path)),
    ),
  ]),
);

for (const [file, imports] of importsOf) {
  const [top, folder = ''] = file.split('/');
  if (top === 'packages') {
    for (const imported of imports)
      if (!imported.startsWith(`packages/${folder}/`))
        problems.push(`${file} imports ${imported}, which is not in its package.`);
  }
  // A test of a resource stands beside it, and uses what all tests use.
  if (top !== 'src' || file.endsWith('.test.ts')) continue;
  const level = FOLDERS.indexOf(folder);
  if (level === -1) problems.push(`${file}: ${folder} is no folder of src/.`);
  for (const imported of imports) {
    const [importedTop, to = ''] = imported.split('/');
    if (importedTop !== 'src') {
      // Browsers load the client like a page's own modules, and a command uses the API as a client.
      const isClient =
        (folder === 'pages' || file === 'src/resources/webhooks/listen.ts') &&
        imported.startsWith('client/src/');
      if (!isClient && imported !== 'package.json')
        problems.push(`${file} imports ${imported}, which is not in src/.`);
    } else if (FOLDERS.indexOf(to) < level)
      problems.push(`${file} imports ${imported}: ${folder} comes after ${to}.`);
  }
}

for (const [file, imports] of importsOf) {
  const [, resource] = /^src\/resources\/([\w-]+)\//.exec(file) ?? [];
  if (resource === undefined || file.endsWith('.test.ts')) continue;
  if (!RESOURCES.includes(resource))
    problems.push(`${file}: src/resources/index.ts does not list ${resource}.`);
  for (const imported of imports) {
    const [, other] = /^src\/resources\/([\w-]+)\//.exec(imported) ?? [];
    if (other !== undefined && RESOURCES.indexOf(other) > RESOURCES.indexOf(resource))
      problems.push(`${file} imports ${imported}: the resource ${resource} comes before ${other}.`);
  }
}

const done = new Set<string>();
function visit(file: string, path: readonly string[]): void {
  const start = path.indexOf(file);
  if (start !== -1) problems.push(`A circle of imports: ${[...path.slice(start), file].join(' → ')}`);
  if (start !== -1 || done.has(file)) return;
  for (const imported of importsOf.get(file) ?? []) visit(imported, [...path, file]);
  done.add(file);
}
for (const file of files) visit(file, []);

/** Each SQLite store starts this thread, which loads its modules again. zod would take half of its start. */
const THREAD = 'src/app/writing-thread.ts';
const loaded = new Set([THREAD]);
for (const file of loaded) {
  // Type imports load nothing.
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)'/gm);
  for (const [, imported = ''] of imports) {
    if (imported.startsWith('.')) loaded.add(normalize(join(dirname(file), imported)));
    else if (!imported.startsWith('node:') && imported !== 'sql-template-tag')
      problems.push(`${file} imports ${imported}: ${THREAD} would load it again.`);
  }
}

for (const problem of problems) console.error(problem);
exit(problems.length > 0 ? 1 : 0);
