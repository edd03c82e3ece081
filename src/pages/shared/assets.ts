import { readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import { hashedFiles, ICON, THEME_START, type PageFile, projectFile, readSource } from './hashed-files.ts';

const UPLOT = import.meta.resolve('uplot');

/** The modules that pages import by a name instead of a path, as npm installed them. */
const PACKAGES: ReadonlyMap<string, PageFile> = new Map(
  Object.entries({
    preact: { name: 'npm/preact.js', file: new URL(import.meta.resolve('preact')) },
    'preact/hooks': { name: 'npm/preact-hooks.js', file: new URL(import.meta.resolve('preact/hooks')) },
    htm: { name: 'npm/htm.js', file: new URL(import.meta.resolve('htm')) },
    'htm/preact': { name: 'npm/htm-preact.js', file: new URL(import.meta.resolve('htm/preact')) },
    minisearch: { name: 'npm/minisearch.js', file: new URL(import.meta.resolve('minisearch')) },
    // Its package names the build for CommonJS, which browsers cannot load.
    uplot: { name: 'npm/uplot.js', file: new URL('uPlot.esm.js', UPLOT) },
  }),
);

export type PageFolder = 'console' | 'dashboard' | 'reference';

/**
 * The files that the page of `folder` loads: its module `main.js` with all modules that it imports, the style sheets and
 * the icon. No other file is served, so nothing of the console is on the public port.
 */
export async function createAssets(folder: PageFolder) {
  const modules = await modulesFrom(projectFile(`src/pages/${folder}/main.js`));
  // Those of the packages first, so that ours decide.
  const styles = [
    { name: 'npm/uplot.css', file: new URL('uPlot.min.css', UPLOT) },
    ...(await stylesIn(`src/pages/${folder}/`)),
    ...(await stylesIn('src/pages/shared/')),
  ];
  const { base, byName } = await hashedFiles('ui/', [...modules, ...styles, ICON, THEME_START]);
  return {
    /** The folder of the files, without a slash at the front. */
    base,
    /** A file by its path without the slash at the front. */
    file: (path: string) => (path.startsWith(base) ? byName.get(path.slice(base.length)) : undefined),
    /** The paths of the packages below `base`, by the names that modules import them by. */
    packages: [...PACKAGES].map(([specifier, { name }]) => [specifier, name] as const),
    styles: styles.map(({ name }) => name),
    /** `main.js` is the first. A page asks for all at once instead of level by level. */
    modules: modules.map(({ name }) => name),
  };
}

async function stylesIn(folder: string): Promise<PageFile[]> {
  const names = await readdir(projectFile(folder).file);
  return names
    .filter((name) => name.endsWith('.css'))
    .toSorted()
    .map((name) => projectFile(folder + name));
}

/** A module and all that it needs, itself first. */
async function modulesFrom(entry: PageFile): Promise<readonly PageFile[]> {
  const found = new Map([[entry.name, entry]]);
  // The loop also visits what it adds.
  for (const module of found.values()) {
    for (const [, specifier = ''] of (await readSource(module)).matchAll(/\bfrom ?['"]([^'"]+)['"]/g)) {
      const imported = specifier.startsWith('.')
        ? projectFile(posix.join(posix.dirname(module.name), specifier))
        : PACKAGES.get(specifier);
      if (imported !== undefined) found.set(imported.name, imported);
    }
  }
  return [...found.values()];
}
