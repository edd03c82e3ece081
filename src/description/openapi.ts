// Contract: sections 1 and 9.
import { RESOURCES } from '../api/index.ts';
import type { Resource } from '../api/operation.ts';
import { type Environment, ENVIRONMENTS } from '../domain/api-key.ts';
import { guide } from './guide.ts';
import { headerComponents } from './headers.ts';
import { describeOperation, type OperationObject, SECURITY_SCHEME } from './operations.ts';
import { parameterComponents } from './parameters.ts';
import { schemaComponents } from './schemas.ts';

/** The base addresses that are known, by their environments. */
export type Urls = Readonly<Partial<Record<Environment, string>>>;

/** The OpenAPI description of the environments in `urls`, for the running one at `base`, and the catalogue that leads to it. */
export function openApi(urls: Urls, base: string, resources = RESOURCES) {
  const document = describe(urls, base, resources);
  let yaml: Promise<string> | undefined;
  return {
    document,
    json: JSON.stringify(document, null, 2),
    // Made at the first request, because loading the library takes longer than everything else here.
    yaml: () => (yaml ??= toYaml(document)),
    catalog: catalog(base),
  };
}

async function toYaml(document: Description): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}

function describe(urls: Urls, base: string, resources: readonly Resource[]) {
  const servers = ENVIRONMENTS.flatMap((environment) => {
    const url = urls[environment];
    return url === undefined ? [] : [{ environment, url }];
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet Store',
      version: '1.0.0',
      summary: 'A catalogue of animals offered for adoption.',
      description: guide(
        base,
        servers.map(({ environment }) => environment),
      ),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: servers.map(({ environment, url }) => ({
      url,
      description: environment === 'production' ? 'Production' : 'Staging',
      // Says whether only the operator's own staff uses a server.
      'x-internal': false,
    })),
    tags: resources.map(({ name, description }) => ({ name, description })),
    paths: describePaths(resources, base),
    components: {
      schemas: schemaComponents(),
      parameters: parameterComponents(resources.flatMap(({ operations }) => operations)),
      headers: headerComponents(base),
      securitySchemes: {
        [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'An API key.' },
      },
    },
  };
}

export type Description = ReturnType<typeof describe>;

function describePaths(resources: readonly Resource[], base: string) {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const { name, operations } of resources)
    for (const each of operations)
      (paths[each.path] ??= {})[each.method.toLowerCase()] = describeOperation(each, name, base);
  return paths;
}

/** The linkset of RFC 9727. It leads to the description of the running environment. */
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
