import type { Resource } from '../src/api/operation.ts';
import type { Description } from '../src/description/openapi.ts';
import type { OperationObject } from '../src/description/operations.ts';
import type { Parameter, Schema } from '../src/description/types.ts';

type Components = Description['components'];

/** Characters: the line width of the formatter. */
const LINE_WIDTH = 110;

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
    '/** An integer of 64 bits: a number up to ±(2^53 − 1), and a bigint beyond, so that it is never rounded. */',
    'export type Int64 = number | bigint;',
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
      const its = [
        `method: '${method.toUpperCase()}'`,
        `path: '${path}'`,
        `allowance: '${allowance}'`,
        inLines(`query: {${query}}`),
      ];
      return query === ''
        ? `  ${operation.operationId}: { ${its.join(', ')} },`
        : `  ${operation.operationId}: {\n    ${its.join(',\n    ')},\n  },`;
    }),
    '} as const;',
    '',
    'export type OperationId = keyof typeof OPERATIONS;',
    '',
    "export type Allowance = (typeof OPERATIONS)[OperationId]['allowance'];",
    '',
  ].join('\n');
}

/** Characters of a line, its indentation not included, as the formatter of the project has them. */
const LINE = 105;

/** The text of a member of an operation, in several lines if it is longer than one. */
function inLines(text: string): string {
  if (text.length <= LINE) return text;
  return text.replace('{ ', '{\n      ').replaceAll(', ', ',\n      ').replace(' }', ',\n    }');
}

/**
 * `client/src/resources.ts`: the class of each resource, which its operations name in `sample.client`. `pets.list` is in the
 * class `Pets` of `client/src/pets.ts`.
 */
export function clientResources(resources: readonly Resource[]): string {
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
  const type = typeOf(schema);
  if (type === 'number' || type === 'Int64') return 'integer';
  return type === 'readonly Int64[]' ? 'integers' : 'string';
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

function declaration(name: string, schema: Schema): string[] {
  const comment = `/** ${schema.description} */`;
  if (schema.type !== 'object') return [comment, ...alias(name, typeOf(schema)), ''];
  const required = new Set(schema.required);
  return [
    comment,
    `export interface ${name} {`,
    ...Object.entries(schema.properties ?? {}).flatMap(([field, value]) => {
      const its = value as Schema;
      return member(field, its.description ?? optionOf(its)?.description, its, required.has(field));
    }),
    '}',
    '',
  ];
}

function alias(name: string, type: string): string[] {
  const line = `export type ${name} = ${type};`;
  if (line.length <= LINE_WIDTH) return [line];
  const [last = '', ...others] = type.split(' | ').toReversed();
  return [`export type ${name} =`, ...others.toReversed().map((each) => `  | ${each}`), `  | ${last};`];
}

function member(
  name: string,
  description: string | undefined,
  schema: Schema,
  isRequired: boolean,
): string[] {
  const type = `${typeOf(schema)}${isRequired ? '' : ' | undefined'}`;
  return [
    ...(description === undefined ? [] : [`  /** ${description} */`]),
    `  readonly ${name}${isRequired ? '' : '?'}: ${type};`,
  ];
}

function typeOf(schema: Schema): string {
  const { $ref, type, format, items } = schema;
  const option = optionOf(schema);
  if (option !== undefined) return `${typeOf(option)} | null`;
  if (typeof $ref === 'string') return $ref.replace('#/components/schemas/', '');
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (type === 'array') return `readonly ${typeOf(items as Schema)}[]`;
  if (type === 'integer') return format === 'int64' ? 'Int64' : 'number';
  if (type === 'string' || type === 'boolean') return type;
  throw new Error(`client/src/schema.ts cannot express ${JSON.stringify(schema)}.`);
}

/** The other option of a schema that allows null. */
function optionOf({ anyOf = [] }: Schema): Schema | undefined {
  const [option, or, ...others] = anyOf;
  return or?.type === 'null' && others.length === 0 ? option : undefined;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function property(schema: Schema | undefined, name: string): Schema {
  return (schema?.properties?.[name] ?? {}) as Schema;
}
