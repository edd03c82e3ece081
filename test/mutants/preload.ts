import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';

/*
 * Loaded first by a test file, and by its threads and programs. Loads the files of MUTANTS_FOLDER instead of those of the
 * service: the one of the mutant MUTANT, which it turns on, or, without it, all, and notes in MUTANTS_COVERED which were reached.
 */

const ROOT = new URL('../../', import.meta.url).href;
const folder = env['MUTANTS_FOLDER'] ?? '';
const active = env['MUTANT'];
const covered = env['MUTANTS_COVERED'];
const only = active?.slice(0, active.indexOf('#'));

registerHooks({
  load(url, context, next) {
    if (!url.startsWith(`${ROOT}src/`)) return next(url, context);
    const file = fileURLToPath(url).slice(fileURLToPath(ROOT).length);
    const place = join(folder, file);
    const isChosen = only === undefined ? existsSync(place) : file === only;
    if (!isChosen) return next(url, context);
    return { format: 'module', source: readFileSync(place), shortCircuit: true };
  },
});

/** Asked only where an id is not in the counts yet. Notes it at once: a thread or a program may be killed. */
const first = new Proxy(
  {},
  {
    set(_, id: string, value: number, counts: object) {
      if (covered !== undefined) appendFileSync(covered, `${id}\n`);
      return Reflect.defineProperty(counts, id, { value, writable: true });
    },
  },
);

/** Where Stryker's calls look. */
Object.assign(globalThis, {
  __stryker__: { activeMutant: active, mutantCoverage: { static: Object.create(first) } },
});
