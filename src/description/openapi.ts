// Contract: sections 1 and 9.
import { RESOURCES } from '../resources/index.ts';
import type { Operation, OperationGroup, Resource } from '../http/operation.ts';
import { type Environment, ENVIRONMENTS } from '../domain/api-key.ts';
import { guide } from './guide.ts';
import { headerComponents } from './headers.ts';
import { describeOperation, type OperationObject, SECURITY_SCHEME } from './operations.ts';
import { describeParameters } from './parameters.ts';
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
    ...describeGroups(resources, base, {
      [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'An API key.' },
    }),
  };
}

export type Description = ReturnType<typeof describe>;

/** The part of a description that follows from its operations, for any audience. */
export function describeGroups<SecuritySchemes extends object>(
  groups: readonly OperationGroup[],
  base: string,
  securitySchemes: SecuritySchemes,
) {
  const operations = groups.flatMap((group): readonly Operation[] => group.operations);
  const parameters = describeParameters(groups);
  const context = { base, operations, parameterRefs: parameters.refs };
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const { name, operations: own } of groups)
    for (const operation of own)
      (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describeOperation(
        operation,
        name,
        context,
      );
  return {
    tags: groups.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: schemaComponents(groups),
      parameters: parameters.components,
      headers: headersIn(paths, base),
      securitySchemes,
    },
  };
}

/** The header components that these paths refer to. */
function headersIn(paths: object, base: string) {
  const text = JSON.stringify(paths);
  return Object.fromEntries(
    Object.entries(headerComponents(base)).filter(([name]) =>
      text.includes(`"#/components/headers/${name}"`),
    ),
  );
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
