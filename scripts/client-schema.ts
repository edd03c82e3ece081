import type { ClientOperation, OperationGroup } from '../src/http/operation.ts';
import type { Description } from '../src/description/openapi.ts';
import type { OperationObject } from '../src/description/operations.ts';
import type { Parameter, Schema } from '../src/description/types.ts';
import { EVENT_TYPES, type EventDeclaration, type EventType } from '../src/resources/events/rules.ts';
import { EVENTS } from '../src/resources/operations.ts';
import { declaration, INT64, member, writeType } from './schema-types.ts';

type Components = Description['components'];

/**
 * The text of `client/src/schema.ts`: the types of the description, in TypeScript.
 * @throws Error when the description uses a feature that this cannot express.
 */
export function clientSchema({ paths, components }: Description): string {
  const { schemas } = components;
  const { Error: error, ...others } = schemas;
  const types = Object.entries(others).filter(([, { type }]) => type !== 'array');
  const parts = [
    '// Made from the description of the service by `npm run openapi`.',
    INT64,
    '',
    ...types.flatMap(([name, schema]) => declaration(name, schema)),
    ...operations(paths).flatMap((each) => queryType(each.operation, components)),
    ...declaration('ErrorCode', property(error, 'code')),
  ];
  return parts.join('\n');
}

/** `client/src/operations.ts`: the base addresses, and method, path, allowance and query of each operation. */
export function clientOperations({ servers, paths, components }: Description): string {
  return [
    '// Made from the description of the service by `npm run openapi`.',
    '/** The base address of each environment. */',
    'export const ENVIRONMENTS = {',
    ...servers.map(({ url, description }) => `  ${description.toLowerCase()}: '${url}',`),
    '} as const;',
    '',
    '/** How each operation is called, and whose windows its requests count in: those of the plan, or those of the holder. */',
    'export const OPERATIONS = {',
    ...operations(paths).map(({ method, path, operation }) => {
      const query = queryKinds(operation, components);
      const allowance = operation['x-allowance'] ?? 'plan';
      return `${operation.operationId}: { method: '${method.toUpperCase()}', path: '${path}', allowance: '${allowance}', query: {${query}} },`;
    }),
    '} as const;',
    '',
    'export type OperationId = keyof typeof OPERATIONS;',
    '',
    "export type Allowance = (typeof OPERATIONS)[OperationId]['allowance'];",
    '',
  ].join('\n');
}

/**
 * `client/src/resources.ts`: the class of each resource, which its operations name in `sample.client`. `pets.list` is in the
 * class `Pets` of `client/src/pets.ts`.
 */
export function clientResources(resources: readonly OperationGroup<ClientOperation>[]): string {
  const names = resources.flatMap(({ description, operations: [first] }) => {
    const [name] = first?.sample.client.split('.') ?? [];
    return name === undefined
      ? []
      : [{ name, Its: name.charAt(0).toUpperCase() + name.slice(1), description }];
  });
  return [
    '// Made from the description of the service by `npm run openapi`.',
    ...names.map(({ name, Its }) => `import { ${Its} } from './${name}.ts';`),
    "import type { Transport } from './transport.ts';",
    '',
    ...names.map(({ name }) => `export type * from './${name}.ts';`),
    '',
    '/** The operations of the service, by what they are about. */',
    'export class Resources {',
    ...names.flatMap(({ name, Its, description }) => [
      `  /** ${description} */`,
      `  readonly ${name}: ${Its};`,
    ]),
    '',
    '  /** @internal */',
    '  constructor(transport: Transport) {',
    ...names.map(({ name, Its }) => `    this.${name} = new ${Its}(transport);`),
    '  }',
    '}',
    '',
  ].join('\n');
}

/** `src/pages/shared/terms.js`: what pages say of each operation of clients, and the types of events that webhooks choose. */
export function pageTerms({ paths }: Description): string {
  return [
    '// Made from the description of the service by `npm run openapi`.',
    '/**',
    ' * What the reference calls each operation of clients.',
    ' * @type {Readonly<Record<string, { name: string, removal?: string, successor?: string }>>} the date, and what to use instead, of a deprecated one',
    ' */',
    'export const OPERATIONS = {',
    ...operations(paths).map(({ operation }) => {
      const { operationId, summary: name } = operation;
      const { 'x-deprecated-sunset': removal, 'x-deprecated-successor': successor } = operation;
      return `${operationId}: ${JSON.stringify({ name, removal, successor })},`;
    }),
    '};',
    '',
  ].join('\n');
}

/** `src/pages/dashboard/events.js`: what each feature says of its types of events. */
export function eventTerms(): string {
  const kinds = Object.entries(EVENTS).map(([kind, { types }]) => [
    kind,
    Object.entries(types).map(([type, { when, readers, example }]) => {
      const { scope }: EventDeclaration = EVENT_TYPES[type as EventType];
      return { type, scope, when, readers, example };
    }),
  ]);
  return [
    '// Made from the features of the service by `npm run openapi`.',
    '/**',
    ' * The types of events, by the kind of thing. `scope`: what a key needs to see it.',
    " * @type {Readonly<Record<string, readonly { type: string, scope?: import('../../domain/scope.ts').Scope, when: string, readers: string, example: object }[]>>}",
    ' */',
    `export const EVENTS = ${JSON.stringify(Object.fromEntries(kinds))};`,
    '',
  ].join('\n');
}

function operations(paths: Description['paths']) {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );
}

function queryParameters({ parameters }: OperationObject, components: Components): Parameter[] {
  return parameters
    .map(({ $ref }) => components.parameters[$ref.replace('#/components/parameters/', '')])
    .filter((parameter): parameter is Parameter => parameter?.in === 'query');
}

/** What each query parameter takes: ` limit: 'integer', id: 'integers' `. */
function queryKinds(operation: OperationObject, components: Components): string {
  const kinds = queryParameters(operation, components).map(
    ({ name, schema }) => `${name}: '${kindOf(schema as Schema)}'`,
  );
  return kinds.length === 0 ? '' : ` ${kinds.join(', ')} `;
}

function kindOf(schema: Schema): string {
  const type = writeType(schema);
  if (type === 'number' || type === 'Int64') return 'integer';
  if (type === 'boolean') return 'boolean';
  if (type === 'readonly Int64[]') return 'integers';
  return schema.type === 'array' ? 'strings' : 'string';
}

/** The type of an operation's query, if it has one. */
function queryType(operation: OperationObject, components: Components): string[] {
  const { operationId } = operation;
  const query = queryParameters(operation, components);
  if (query.length === 0) return [];
  return [
    `/** Query parameters of \`${operationId}\`. */`,
    `export interface ${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query {`,
    ...query.flatMap(({ name, description, schema, required }) =>
      member(name, description, schema as Schema, required === true),
    ),
    '}',
    '',
  ];
}

function property(schema: Schema | undefined, name: string): Schema {
  return (schema?.properties?.[name] ?? {}) as Schema;
}
