import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { exit } from 'node:process';

/*
 * Checks which folder imports which, and that no imports form a circle. Type imports count: a reader follows them too.
 * Checks also that the writing thread of SQLite loads no package.
 */

/** The parts of this project that each part may import, besides itself. A file belongs to the longest part that fits. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/domain': [],
  'src/domain/startup-error.ts': [],
  'src/config/database-url.ts': [],
  'src/storage': ['src/domain', 'src/limits', 'src/domain/startup-error.ts', 'src/config/database-url.ts'],
  'src/limits': ['src/domain', 'src/domain/startup-error.ts'],
  'src/config/config.ts': [
    'src/domain',
    'src/config/database-url.ts',
    'src/config/unknown-variables.ts',
    'src/config/addresses.ts',
  ],
  'src/config/addresses.ts': [],
  'src/config/unknown-variables.ts': ['src/domain'],
  'src/management': ['src/domain', 'src/limits', 'src/storage', 'src/api'],
  'src/api': ['src/domain', 'src/limits', 'src/management'],
  'src/http': ['src/domain', 'src/limits', 'src/api', 'src/config/config.ts'],
  'src/admin': ['src/domain', 'src/limits', 'src/storage', 'src/management', 'src/api', 'src/http'],
  'src/console': [
    'src/domain',
    'src/limits',
    'src/storage',
    'src/management',
    'src/api',
    'src/admin',
    'src/http',
    'src/description',
    'src/ui',
    'src/config/config.ts',
  ],
  'src/ui': ['src/http'],
  'src/description': ['src/domain', 'src/limits', 'src/api', 'src/http'],
  'src/site': ['src/http', 'src/description', 'src/ui'],
};

const problems: string[] = [];
const files = globSync(
  ['src/**/*.{ts,js}', 'client/src/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts', 'scripts/*.ts'],
  {
    exclude: (path) => path.includes('node_modules'),
  },
);
const importsOf = new Map(
  files.map((file) => [
    file,
    [...readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, path = '']) =>
      normalize(join(dirname(file), path)),
    ),
  ]),
);

const partOf = (file: string) =>
  Object.keys(MAY_IMPORT)
    .filter((part) => file === part || file.startsWith(`${part}/`))
    .toSorted((one, other) => other.length - one.length)[0];
for (const [file, imports] of importsOf) {
  const part = partOf(file);
  for (const imported of imports) {
    if (file.startsWith('src/') && !file.startsWith('src/cli/') && imported.startsWith('src/cli/'))
      problems.push(`${file} imports ${imported}: nothing imports the command line.`);
    if (part === undefined || partOf(imported) === part || imported === 'package.json') continue;
    const allowed = MAY_IMPORT[part] ?? [];
    if (!allowed.includes(partOf(imported) ?? imported))
      problems.push(
        `${file} imports ${imported}: ${part} may import ${allowed.join(', ') || 'nothing of the house'}.`,
      );
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
const THREAD = 'src/storage/sqlite/writing-thread.ts';
const loaded = new Set([THREAD]);
for (const file of loaded) {
  // Type imports load nothing.
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)'/gm);
  for (const [, imported = ''] of imports) {
    if (imported.startsWith('.')) loaded.add(normalize(join(dirname(file), imported)));
    else if (!imported.startsWith('node:'))
      problems.push(`${file} imports ${imported}: ${THREAD} would load it again.`);
  }
}

for (const problem of problems) console.error(problem);
exit(problems.length > 0 ? 1 : 0);
