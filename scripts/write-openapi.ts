import { writeFileSync } from 'node:fs';
import { EXAMPLE_URLS } from '../src/config/config.ts';
import { openApi } from '../src/description/openapi.ts';
import { generateFiles } from './generated-files.ts';

/** Writes the committed description, and the TypeScript that is made from it. Tests compare the files with it. */
const { json } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
for (const [path, text] of Object.entries({ 'openapi.json': `${json}\n`, ...generateFiles() }))
  writeFileSync(new URL(`../${path}`, import.meta.url), text);
