import { readdir } from 'node:fs/promises';
import { bundle, type Packages } from './bundle.ts';
import { hashedFiles, ICON, readSource, THEME_START, projectFile } from './hashed-files.ts';

const UPLOT = import.meta.resolve('uplot');

/** The modules that pages import by a name instead of a path, as npm installed them. */
export const PACKAGES: Packages = new Map(
  Object.entries({
    preact: { name: 'preact', file: new URL(import.meta.resolve('preact')) },
    'preact/hooks': { name: 'preact/hooks', file: new URL(import.meta.resolve('preact/hooks')) },
    htm: { name: 'htm', file: new URL(import.meta.resolve('htm')) },
    'htm/preact': { name: 'htm/preact', file: new URL(import.meta.resolve('htm/preact')) },
    minisearch: { name: 'minisearch', file: new URL(import.meta.resolve('minisearch')) },
    // The build for scripts is a third of the module, which is not minified.
    uplot: { name: 'uplot', file: new URL('uPlot.iife.min.js', UPLOT), global: 'uPlot' },
  }),
);

export type PageFolder = 'console' | 'dashboard' | 'reference';

/** The scripts and the styles of a page. Their paths say where relative addresses in them begin. */
const SCRIPT = 'main.js';
const STYLE = 'main.css';

/**
 * The files that the page of `folder` loads: one of its module `main.js` with all modules that it imports, one of all
 * style sheets, and the icon. No other file is served, so nothing of the console is on the public port.
 */
export async function createAssets(folder: PageFolder) {
  // Those of the packages first, so that ours decide.
  const styles = [
    { name: 'uplot.css', file: new URL('uPlot.min.css', UPLOT) },
    ...(await stylesIn(`src/pages/${folder}/`)),
    ...(await stylesIn('src/pages/shared/')),
  ];
  const texts = await Promise.all(styles.map(readSource));
  const { base, byName } = await hashedFiles('ui/', [
    { name: SCRIPT, text: await bundle(projectFile(`src/pages/${folder}/main.js`), PACKAGES) },
    { name: STYLE, text: texts.join('\n') },
    ICON,
    THEME_START,
  ]);
  return {
    /** The folder of the files, without a slash at the front. */
    base,
    /** A file by its path without the slash at the front. */
    file: (path: string) => (path.startsWith(base) ? byName.get(path.slice(base.length)) : undefined),
    script: SCRIPT,
    style: STYLE,
  };
}

async function stylesIn(folder: string) {
  const names = await readdir(projectFile(folder).file);
  return names
    .filter((name) => name.endsWith('.css'))
    .toSorted()
    .map((name) => projectFile(folder + name));
}
