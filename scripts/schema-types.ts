import type { Schema } from '../src/description/types.ts';

/* Types in TypeScript from the schemas of a description. The formatter breaks their lines. */

/** The declaration of the type of an int64. */
export const INT64 = [
  '/** An integer of 64 bits: a number up to ±(2^53 − 1), and a bigint beyond, so that it is never rounded. */',
  'export type Int64 = number | bigint;',
].join('\n');

/**
 * The text of `src/pages/console/schema.d.ts`: the types of the admin API.
 * @throws Error when the description uses a feature that this cannot express.
 */
export function consoleSchema({
  components,
}: {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}): string {
  const types = Object.entries(components.schemas).flatMap(([name, schema]) => declaration(name, schema));
  return ['// Made from the description of the admin API by `npm run openapi`.', INT64, '', ...types].join(
    '\n',
  );
}

/** The type of a schema with a name. */
export function declaration(name: string, schema: Schema): string[] {
  const text =
    schema.type === 'object'
      ? `export interface ${name} ${objectText(schema)}`
      : `export type ${name} = ${writeType(schema)};`;
  return [`/** ${schema.description} */`, text, ''];
}

/** A property of an object. */
export function member(
  name: string,
  description: string | undefined,
  schema: Schema,
  isRequired: boolean,
): string[] {
  const field = /^\w+$/.test(name) ? name : JSON.stringify(name);
  const start = isRequired ? `readonly ${field}: ` : `readonly ${field}?: `;
  return [
    ...(description === undefined ? [] : [`/** ${description} */`]),
    `${start}${[writeType(schema), ...(isRequired ? [] : ['undefined'])].join(' | ')};`,
  ];
}

/** The type of a schema. */
export function writeType(schema: Schema): string {
  return optionsOf(schema).join(' | ');
}

/** What a value may be. */
function optionsOf(schema: Schema): string[] {
  const { $ref, type, format } = schema;
  const option = optionOf(schema);
  if (option !== undefined) return [...optionsOf(option), 'null'];
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap(optionsOf);
  if (typeof $ref === 'string') return [$ref.replace('#/components/schemas/', '')];
  if (Array.isArray(schema.enum)) return schema.enum.map(literal);
  if (schema.const !== undefined) return [literal(schema.const)];
  if (type === 'array') {
    const items = optionsOf(schema.items as Schema);
    return [`readonly ${items.length === 1 ? items[0] : `(${items.join(' | ')})`}[]`];
  }
  if (type === 'object')
    return [schema.properties === undefined ? 'Readonly<Record<string, unknown>>' : objectText(schema)];
  if (type === 'integer') return [format === 'int64' ? 'Int64' : 'number'];
  if (type === 'string' || type === 'boolean' || type === 'number') return [type];
  throw new Error(`There is no type for ${JSON.stringify(schema)}.`);
}

function objectText({ properties = {}, required = [] }: Schema): string {
  const members = Object.entries(properties).flatMap(([name, value]) => {
    const schema = value as Schema;
    const description = schema.description ?? optionOf(schema)?.description;
    return member(name, description, schema, required.includes(name));
  });
  return ['{', ...members, '}'].join('\n');
}

/** The other option of a schema that allows null. */
function optionOf({ anyOf = [] }: Schema): Schema | undefined {
  const [option, or, ...others] = anyOf;
  return or?.type === 'null' && others.length === 0 ? option : undefined;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
