import type { Description, Parameter, Schema } from '../src/http/openapi/types.ts';

/** Types of the description that the client gives or takes, with what it calls them. */
const TYPES = ['PetStatus', 'NewPet', 'Pet'] as const;

/** As the formatter has it. */
const LINE_WIDTH = 110;

/**
 * `client/src/schema.ts`: the types and base addresses of the description, in TypeScript.
 * @throws Error when the description uses what this cannot express, rather than to say less than it does.
 */
export function clientSchema({ servers, paths, components }: Description): string {
  const { schemas, parameters } = components;
  const codes = property(schemas['Error'], 'code');
  const query = (paths['/pets']?.get?.parameters ?? [])
    .map(({ $ref }) => parameters[$ref.replace('#/components/parameters/', '')])
    .filter((parameter): parameter is Parameter => parameter?.in === 'query');
  const parts = [
    '// Made from the description of the service by `npm run openapi`.',
    'export const ENVIRONMENTS = {',
    ...servers.map(({ url, description }) => `  ${description.toLowerCase()}: '${url}',`),
    '} as const;',
    '',
    '/** An integer of 64 bits: a number up to ±(2^53 − 1), and a bigint beyond, so that it is never rounded. */',
    'export type Int64 = number | bigint;',
    '',
    ...TYPES.flatMap((name) => declaration(name, schemas[name] ?? {})),
    '/** Query parameters of `listPets`. */',
    'export interface ListPetsQuery {',
    ...query.flatMap(({ name, description, schema, required }) =>
      member(name, description, schema as Schema, required === true),
    ),
    '}',
    '',
    ...declaration('ErrorCode', codes),
  ];
  return parts.join('\n');
}

function declaration(name: string, schema: Schema): string[] {
  const comment = `/** ${schema.description} */`;
  if (schema.type !== 'object') return [comment, ...alias(name, typeOf(schema)), ''];
  const required = new Set(schema.required);
  return [
    comment,
    `export interface ${name} {`,
    ...Object.entries(schema.properties ?? {}).flatMap(([field, value]) => {
      const described = value as Schema;
      return member(field, described.description, described, required.has(field));
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
  const { $ref, type, format } = schema;
  if (typeof $ref === 'string') return $ref.replace('#/components/schemas/', '');
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `'${String(value)}'`).join(' | ');
  if (type === 'integer') return format === 'int64' ? 'Int64' : 'number';
  if (type === 'string') return 'string';
  throw new Error(`client/src/schema.ts cannot express ${JSON.stringify(schema)}.`);
}

function property(schema: Schema | undefined, name: string): Schema {
  return (schema?.properties?.[name] ?? {}) as Schema;
}
