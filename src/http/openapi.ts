// Contract: sections 1 and 9.
import type { Environment } from '../domain/api-key.ts';
import { guide } from './openapi/guide.ts';
import { headerComponents } from './openapi/headers.ts';
import { PATHS, SECURITY_SCHEME } from './openapi/operations.ts';
import { PARAMETERS } from './openapi/parameters.ts';
import { presented } from './openapi/presentation.ts';
import { schemaComponents } from './openapi/schemas.ts';
import type { Description, Paths } from './openapi/types.ts';

type Urls = Readonly<Record<Environment, string>>;

export interface OpenApi {
  readonly document: Description;
  readonly json: string;
  readonly yaml: () => Promise<string>;
  /** RFC 9727: where the API of the running environment is described, as a linkset. */
  readonly catalog: string;
}

/** The OpenAPI description of both environments and the catalogue that leads to it. */
export function openApi(urls: Urls, environment: Environment, paths: Paths = PATHS): OpenApi {
  const document = describe(urls, environment, paths);
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

function describe(urls: Urls, environment: Environment, paths: Paths): Description {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet Store',
      version: '1.0.0',
      summary: 'A catalogue of animals offered for adoption.',
      description: guide(urls[environment]),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: urls.production, description: 'Production', 'x-internal': false },
      { url: urls.staging, description: 'Staging', 'x-internal': false },
    ],
    tags: [
      { name: 'Pets', description: 'The animals of the catalogue.' },
      { name: 'Store', description: 'Orders and the like. No operation of this group is specified yet.' },
    ],
    paths: presented(paths, urls[environment]),
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
