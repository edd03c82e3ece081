import { readFile } from 'node:fs/promises';
import { fields } from 'direct-http';
import { doInTurns } from '../../domain/parts.ts';
import { llmsText } from '../../description/llms.ts';
import { describeApi, type Urls } from '../../description/openapi.ts';
import { petStatesPicture } from '../../description/pet-states.ts';
import { referenceMarkdown } from '../../description/reference-markdown.ts';
import { Content, openContent } from '../../http/content.ts';
import { TYPES } from '../shared/hashed-files.ts';
import { html } from '../shared/html.ts';
import { pageWithFiles } from '../shared/page.ts';
import { referenceContent } from './content.ts';

/** The published reference and the description that it is made of. `base` is the base address of the running environment. */
export async function createReference(urls: Urls, base: string) {
  const { document, json, yaml, catalog } = await doInTurns(describeApi(urls, base));
  const { page, file } = await pageWithFiles('reference', {
    title: `${document.info.title} API reference`,
    root: './',
    content: (folder) => doInTurns(referenceContent(document, base, folder)),
    links: html`<meta name="description" content="${document.info.summary}">
<link rel="alternate" href="reference.md" type="text/markdown" title="The reference as Markdown">
<link rel="service-desc" href="openapi.json" type="application/json">`,
    origins: document.servers.map(({ url }) => new URL(url).origin),
  });
  return {
    page,
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
    file: (path: string): Content | undefined => PICTURES.get(path) ?? file(path),
  };
}

const FOLDER = new URL('./', import.meta.url);

/** The pictures of the guide. Their address is in the description, so it stays the same. */
const PICTURES = new Map(
  Object.entries({
    'windows.svg': () => readFile(new URL('windows.svg', FOLDER)),
    'ban.svg': () => readFile(new URL('ban.svg', FOLDER)),
    'states.svg': petStatesPicture,
  }).map(([name, load]) => [
    `reference/${name}`,
    new Content(TYPES['.svg'], load, fields('Cache-Control', 'no-cache')),
  ]),
);
