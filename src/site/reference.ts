import { readdir, readFile } from 'node:fs/promises';
import { Content, openContent } from '../http/content.ts';
import { fields } from '../http/wire/text.ts';
import { llmsText } from '../description/llms.ts';
import { openApi, type Urls } from '../description/openapi.ts';
import { petStatesPicture } from '../description/pet-states.ts';
import { referenceMarkdown } from '../description/reference-markdown.ts';
import { contentSecurityPolicy, referencePage } from './reference-page.ts';
import { hashedFiles, ICON, TYPES } from '../ui/hashed-files.ts';
import { kept } from '../ui/kept.ts';

/**
 * The published reference and the description that it is made of. `base` is the base address of the running environment.
 * "Try it" selects it first. `find` finds the files of the page.
 */
export function createReference(urls: Urls, base: string, find = referenceFiles) {
  const { document, json, yaml, catalog } = openApi(urls, base);
  const files = kept(find);
  const page = async () => referencePage(document, referenceMarkdown(document), (await files()).base, base);
  return {
    page: new Content(
      'text/html; charset=utf-8',
      page,
      fields('Cache-Control', 'no-cache', 'Content-Security-Policy', contentSecurityPolicy(document)),
    ),
    markdown: openContent('text/markdown; charset=utf-8', () => referenceMarkdown(document)),
    /** See https://llmstxt.org. */
    llms: openContent('text/plain; charset=utf-8', () => llmsText(document, base)),
    json: openContent('application/json; charset=utf-8', () => json),
    yaml: openContent('application/yaml; charset=utf-8', yaml),
    catalog: openContent(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      () => catalog,
      fields('Link', '</.well-known/api-catalog>; rel="api-catalog"'),
    ),
    /** A file of the page or a picture, by its path without the slash at the front. */
    async file(path: string): Promise<Content | undefined> {
      const picture = PICTURES.get(path);
      if (picture !== undefined) return picture;
      const { base: folder, byName } = await files();
      return path.startsWith(folder) ? byName.get(path.slice(folder.length)) : undefined;
    },
  };
}

/** Scalar's build for browsers, as npm installed it: one module, and the chunks that it loads when it needs them. */
const SCALAR = new URL('./', import.meta.resolve('@scalar/api-reference'));
const OURS = new URL('browser/', import.meta.url);

/** The pictures of the guide. Their address is in the description, so it stays the same. */
const PICTURES = new Map(
  Object.entries({
    'windows.svg': () => readFile(new URL('windows.svg', OURS)),
    'ban.svg': () => readFile(new URL('ban.svg', OURS)),
    'states.svg': petStatesPicture,
  }).map(([name, load]) => [
    `reference/${name}`,
    new Content(TYPES['.svg'], load, fields('Cache-Control', 'no-cache')),
  ]),
);

/** The files of the reference page, and its folder with a hash of their content: `reference/<hash>/`. */
export async function referenceFiles() {
  const chunks = (await readdir(new URL('chunks/', SCALAR))).filter((name) => name.endsWith('.js'));
  const ours = ['start.js', 'corrections.js', 'samples.js', 'style.css'];
  const scalars = ['standalone.esm.js', ...chunks.map((name) => `chunks/${name}`)];
  return hashedFiles('reference/', [
    ICON,
    ...ours.map((name) => ({ name, file: new URL(name, OURS) })),
    ...scalars.map((name) => ({ name, file: new URL(name, SCALAR) })),
  ]);
}
