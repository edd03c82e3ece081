import { readdir, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { hashedFiles, type PageFile } from './hashed-files.ts';

/** The folder of all pages. */
const PAGES = new URL('../', import.meta.url);
const UPLOT = import.meta.resolve('uplot');

/** The modules that pages import by a name instead of a path, as npm installed them. */
const PACKAGES: ReadonlyMap<string, PageFile> = new Map(
  Object.entries({
    preact: { name: 'npm/preact.js', file: new URL(import.meta.resolve('preact')) },
    'preact/hooks': { name: 'npm/preact-hooks.js', file: new URL(import.meta.resolve('preact/hooks')) },
    htm: { name: 'npm/htm.js', file: new URL(import.meta.resolve('htm')) },
    'htm/preact': { name: 'npm/htm-preact.js', file: new URL(import.meta.resolve('htm/preact')) },
    // Its package names the build for CommonJS, which browsers cannot load.
    uplot: { name: 'npm/uplot.js', file: new URL('uPlot.esm.js', UPLOT) },
  }),
);

/**
 * The files that the pages of `folder` load: the packages, the shared modules and style sheets, and the modules of that
 * folder. A listener serves only its own folder, so nothing of the console is on the public port.
 */
export async function createAssets(folder: 'console' | 'dashboard') {
  const names = [...(await filesIn('shared/')), ...(await filesIn(`${folder}/`))];
  const files: PageFile[] = [
    ...names.map((name) => ({ name, file: new URL(name, PAGES) })),
    ...PACKAGES.values(),
    { name: 'npm/uplot.css', file: new URL('uPlot.min.css', UPLOT) },
  ];
  const { base, byName } = await hashedFiles('ui/', files);
  const places = new Map(files.map(({ name, file }) => [name, file]));
  return {
    /** The folder of the files, without a slash at the front. */
    base,
    /** A file by its path without the slash at the front. */
    file: (path: string) => (path.startsWith(base) ? byName.get(path.slice(base.length)) : undefined),
    /** The paths of the packages below `base`, by the names that modules import them by. */
    packages: new Map([...PACKAGES].map(([name, file]) => [name, file.name])),
    /** The style sheets, those of the packages first, so that ours decide. */
    styles: [...byName.keys()].filter((name) => name.endsWith('.css')).toSorted(),
    /** Every module that `entry` needs, itself first. A page asks for all at once instead of level by level. */
    async modules(entry: string): Promise<string[]> {
      const found = new Set([entry]);
      // The loop also visits what it adds.
      for (const name of found) {
        const place = places.get(name);
        if (place === undefined) throw new Error(`No page has a file ${name}.`);
        for (const path of imports(name, await readFile(place, 'utf8'))) found.add(path);
      }
      return [...found];
    },
  };
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(new URL(folder, PAGES));
  return names
    .filter((name) => /\.(?:js|css|svg)$/.test(name))
    .map((name) => folder + name)
    .toSorted();
}

/** The modules that `code`, the module `name`, imports. */
function imports(name: string, code: string): string[] {
  return Array.from(code.matchAll(/\bfrom ?['"]([^'"]+)['"]/g), ([, specifier = '']) => {
    const path = specifier.startsWith('.') ? posix.join(posix.dirname(name), specifier) : undefined;
    return path ?? PACKAGES.get(specifier)?.name;
  }).filter((path) => path !== undefined);
}
