import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { EXAMPLE_URLS } from '../src/config/config.ts';
import { adminOpenApi } from '../src/description/admin-openapi.ts';
import { openApi } from '../src/description/openapi.ts';
import { RESOURCES } from '../src/resources/operations.ts';
import { clientOperations, clientResources, clientSchema, eventTerms, pageTerms } from './client-schema.ts';
import { generateSamples } from './samples.ts';
import { consoleSchema } from './schema-types.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The committed files that are made from the descriptions, by their paths in the project: the client's types, table of calls
 * and list of resources, the types of the console, the terms of all pages, the types of events, and samples in languages that need a generator.
 */
export function generateFiles(): Readonly<Record<string, string>> {
  const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
  const texts = {
    'client/src/schema.ts': clientSchema(document),
    'client/src/operations.ts': clientOperations(document),
    'client/src/resources.ts': clientResources(RESOURCES),
    'src/pages/console/schema.d.ts': consoleSchema(adminOpenApi()),
    'src/pages/shared/terms.js': pageTerms(document),
    'src/pages/dashboard/events.js': eventTerms(),
    'src/pages/reference/samples.json': JSON.stringify(generateSamples(EXAMPLE_URLS.production)),
  };
  return Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, format(path, text)]));
}

/** The text as the formatter of the project writes it. */
function format(path: string, input: string): string {
  const args = ['format', `--stdin-file-path=${path}`];
  return execFileSync('node_modules/.bin/biome', args, { cwd: root, input, encoding: 'utf8' });
}
