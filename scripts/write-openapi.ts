import { writeFile } from 'node:fs/promises';
import { EXAMPLE_URLS } from '../src/config/config.ts';
import { RESOURCES } from '../src/resources/index.ts';
import { openApi } from '../src/description/openapi.ts';
import { clientOperations, clientResources, clientSchema } from './client-schema.ts';

/** Writes the committed description, and the client's types, table of calls and list of resources. Tests compare the files with it. */
const { document, json } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
await writeFile(new URL('../openapi.json', import.meta.url), `${json}\n`);
await writeFile(new URL('../client/src/schema.ts', import.meta.url), clientSchema(document));
await writeFile(new URL('../client/src/operations.ts', import.meta.url), clientOperations(document));
await writeFile(new URL('../client/src/resources.ts', import.meta.url), clientResources(RESOURCES));
