import type { Environment } from '../domain/api-key.ts';
import { guide } from './openapi/guide.ts';
import { headerComponents } from './openapi/headers.ts';
import { PATHS, SECURITY_SCHEME } from './openapi/operations.ts';
import { PARAMETERS } from './openapi/parameters.ts';
import { schemaComponents } from './openapi/schemas.ts';
import type { Description } from './openapi/types.ts';

type Urls = Readonly<Record<Environment, string>>;

export interface OpenApi {
  readonly document: Description;
  readonly json: string;
  readonly yaml: () => Promise<string>;
  /** RFC 9727: where the API of the running environment is described, as a linkset. */
  readonly catalog: string;
}

/** The OpenAPI description of both environments (spec §1, §9) and the catalogue that leads to it. */
export function openApi(urls: Urls, environment: Environment): OpenApi {
  const document = describe(urls);
  let yaml: Promise<string> | undefined;
  return {
    document,
    json: JSON.stringify(document, null, 2),
    // Made when it is first asked for: the library alone takes longer to load than all the rest to make.
    yaml: () => (yaml ??= toYaml(document)),
    catalog: catalog(urls[environment]),
  };
}

async function toYaml(document: Description): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function describe(urls: Urls): Description {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet Store',
      version: '1.0.0',
      summary: 'A catalogue of animals offered for adoption.',
      description: guide(),
    },
    servers: [
      { url: urls.production, description: 'Production' },
      { url: urls.staging, description: 'Staging' },
    ],
    tags: [
      { name: 'Pets', description: 'The animals of the catalogue.' },
      { name: 'Store', description: 'Orders. No operations are specified yet.' },
    ],
    'x-tagGroups': [
      { name: 'Pets', tags: ['Pets'] },
      { name: 'Store', tags: ['Store'] },
    ],
    paths: PATHS,
    components: {
      schemas: schemaComponents(),
      parameters: PARAMETERS,
      headers: headerComponents(urls.production),
      securitySchemes: {
        [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'An API key of the environment.' },
      },
    },
  };
}

function catalog(base: string): string {
  const beside = (page: string) => new URL(`../${page}`, `${base}/`).href;
  return JSON.stringify({
    linkset: [
      {
        anchor: base,
        'service-desc': [
          { href: beside('openapi.json'), type: 'application/json' },
          { href: beside('openapi.yaml'), type: 'application/yaml' },
        ],
        'service-doc': [{ href: beside('reference'), type: 'text/html' }],
      },
    ],
  });
}
