// Contract: sections 1 and 9.
import { EVENTS, RESOURCES } from '../resources/operations.ts';
import type { ClientOperation, Operation, OperationGroup } from '../http/operation.ts';
import { type Environment, ENVIRONMENTS } from '../domain/api-key.ts';
import { doAtOnce, doInTurns, type Parts } from '../domain/parts.ts';
import { guide } from './guide.ts';
import { headerComponents } from './headers.ts';
import { describeOperation, type OperationObject, SECURITY_SCHEME } from './operations.ts';
import { describeParameters } from './parameters.ts';
import { json, schemaComponents, schemaRef } from './schemas.ts';
import { shareResponses } from './shared-responses.ts';

/** The base addresses that are known, by their environments. */
export type Urls = Readonly<Partial<Record<Environment, string>>>;

/**
 * The OpenAPI description of the environments in `urls`, for the running one at `base`, and the catalogue that leads to it.
 * `document` has everything, for our own pages. The published texts name once what is shared, and leave guide and samples to
 * the reference.
 */
export function* describeApi(urls: Urls, base: string, resources = RESOURCES) {
  const document = yield* describe(urls, base, resources);
  const published = shareResponses(publish(document, base));
  yield;
  let yaml: Promise<string> | undefined;
  return {
    document,
    json: descriptionText(published),
    // Made at the first request, because loading the library takes longer than everything else here.
    yaml: () => (yaml ??= toYaml(published)),
    catalog: catalog(base),
  };
}

/** The same at once, where nobody waits. */
export function openApi(...[urls, base, resources]: Parameters<typeof describeApi>) {
  return doAtOnce(describeApi(urls, base, resources));
}

function publish(document: Description, base: string) {
  const introduction = document.info.description.split(/^## /m).find((page) => page !== '') ?? '';
  const [, text = ''] = introduction.split(/\n\n(.*)/s);
  const reference = `The guide and samples are in the [reference](${new URL('../reference', `${base}/`).href}).`;
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, { 'x-codeSamples': _samples, ...operation }]) => [
          method,
          operation,
        ]),
      ),
    ]),
  );
  return { ...document, info: { ...document.info, description: `${text.trim()}\n\n${reference}` }, paths };
}

/** The depth at which each operation and each component is one line. */
const LINES_AT = 3;

/** The JSON of a description, small, and in lines that show what a change changes. */
export function descriptionText(value: object, depth = 0): string {
  if (depth === LINES_AT || typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  const [outer, inner] = [depth, depth + 1].map((count) => `\n${' '.repeat(count)}`);
  const members = Object.entries(value).map(
    ([name, member]) => `${inner}${JSON.stringify(name)}: ${descriptionText(member as object, depth + 1)}`,
  );
  return `{${members.join(',')}${outer}}`;
}

async function toYaml(document: object): Promise<string> {
  const { stringify } = await import('yaml');
  const write = (value: object) => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
  return doInTurns(yamlInParts(document, write));
}

/** The levels of a description whose members are written one after the other: paths and components are most of it. */
const YAML_LEVELS = 2;

function* yamlInParts(value: object, write: (value: object) => string, level = 0): Parts<string> {
  let text = '';
  for (const [name, member] of Object.entries(value) as readonly (readonly [string, unknown])[]) {
    const isSplit =
      level < YAML_LEVELS && typeof member === 'object' && member !== null && Object.keys(member).length > 1;
    if (isSplit && !Array.isArray(member)) {
      const inner = yield* yamlInParts(member, write, level + 1);
      text += `${write({ [name]: null }).replace(/ null\n$/, '\n')}${inner.replaceAll(/^(?=.)/gm, '  ')}`;
    } else if (member !== undefined) text += write({ [name]: member });
    yield;
  }
  return text;
}

function* describe(urls: Urls, base: string, resources: readonly OperationGroup<ClientOperation>[]) {
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
    ...(yield* describeGroups(resources, base, {
      [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'An API key.' },
    })),
    webhooks: describeWebhooks(),
  };
}

/** What endpoints get: a request for each type of event, with an example. */
function describeWebhooks() {
  const described = Object.entries(EVENTS).flatMap(([kind, { schema, types }]) =>
    Object.entries(types).map(
      ([type, { when, readers, example }]) =>
        [
          type,
          {
            post: {
              operationId: `receive ${type}`.replaceAll(/[ .](\w)/g, (_, letter: string) =>
                letter.toUpperCase(),
              ),
              summary: type,
              description: `${when} ${readers}`,
              security: [],
              requestBody: {
                required: true,
                description: 'The event, signed as Standard Webhooks say.',
                content: json(schemaRef(schema), { [kind]: { summary: type, value: example } }),
              },
              responses: { 204: { description: 'The event was taken. Any other 2xx says the same.' } },
            },
          },
        ] as const,
    ),
  );
  return Object.fromEntries(described);
}

export type Description = ReturnType<typeof describe> extends Parts<infer Document> ? Document : never;

/** The part of a description that follows from its operations, for any audience. */
export function* describeGroups<SecuritySchemes extends object>(
  groups: readonly OperationGroup[],
  base: string,
  securitySchemes: SecuritySchemes,
) {
  const operations = groups.flatMap((group): readonly Operation[] => group.operations);
  const parameters = describeParameters(groups);
  const context = { base, operations, parameterRefs: parameters.refs };
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const { name, operations: own } of groups)
    for (const operation of own) {
      const described = describeOperation(operation, name, context);
      (paths[operation.path] ??= {})[operation.method.toLowerCase()] = described;
      yield;
    }
  return {
    tags: groups.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: yield* schemaComponents(groups),
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
