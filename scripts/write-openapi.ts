import { writeFile } from 'node:fs/promises';
import { EXAMPLE_URLS } from '../src/config.ts';
import { openApi } from '../src/http/openapi.ts';
import { clientSchema } from './client-schema.ts';

/** Writes the committed description, and the client's types that come from it; tests compare both with what is generated. */
const { document, json } = openApi(EXAMPLE_URLS, 'production');
await writeFile(new URL('../openapi.json', import.meta.url), `${json}\n`);
await writeFile(new URL('../client/src/schema.ts', import.meta.url), clientSchema(document));
