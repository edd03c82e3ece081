import { writeFile } from 'node:fs/promises';
import { EXAMPLE_URLS } from '../src/config.ts';
import { openApi } from '../src/http/openapi.ts';

/** Writes the committed description; a test compares it with the one that is generated. */
const file = new URL('../openapi.json', import.meta.url);
await writeFile(file, `${openApi(EXAMPLE_URLS, 'production').json}\n`);
