// Contract: sections 2 and 4.1.
import { z } from 'zod';
import { ERROR_CODES, MESSAGE_LENGTH } from '../domain/errors.ts';
import type { Parts } from '../domain/parts.ts';
import { MEDIA_TYPES } from '../http/body.ts';
import type { Examples, Method, Operation, OperationGroup } from '../http/operation.ts';
import { errorExample } from './errors.ts';
import type { Content, Ref, Schema } from './types.ts';

/** The body of every error response. */
export const ErrorBody = z
  .strictObject({
    code: z.enum(ERROR_CODES).meta({ description: 'Machine-readable error code.' }),
    message: z
      .string()
      .min(1)
      .max(MESSAGE_LENGTH)
      .regex(/\S/)
      .meta({ description: 'Human-readable description of the error: what to do about it.' }),
    status: z
      .int()
      .min(400)
      .max(599)
      .meta({ format: 'int32', description: 'The HTTP status code of the response.' }),
  })
  .meta({
    id: 'Error',
    description: 'Why a request was refused.',
    examples: [errorExample('not_found', 'There is no animal with this petId.')],
  });

const CONVERSION = {
  // Clients may send fields that a schema does not have: the service ignores them.
  io: 'input',
  // A bigint has no JSON Schema. The metadata of an int64 says what it is.
  unrepresentable: 'any',
  // Zod drops the examples of what it transforms. Ours are of what is sent.
  override({ zodSchema, jsonSchema }) {
    const { examples } = z.globalRegistry.get(zodSchema) ?? {};
    if (examples !== undefined) jsonSchema.examples = examples as unknown[];
  },
} as const satisfies z.core.ToJSONSchemaParams;

/** JSON of this schema, with examples. */
export function json(schema: Schema | Ref, examples: Examples): Content {
  return { 'application/json': { schema, examples } };
}

/** The reference to a schema that has a name. */
export function schemaRef(schema: z.ZodType): Ref {
  return { $ref: `#/components/schemas/${schema.meta()?.id}` };
}

/** JSON of a schema that has a name. */
export function toContent({ schema, examples }: { schema: z.ZodType; examples: Examples }): Content {
  return json(schemaRef(schema), examples);
}

/** The body of a request, in each media type that it may have. */
export function requestBody(method: Method, body: NonNullable<Operation['body']>) {
  const content = toContent(body);
  const patch = method === 'PATCH' && { [MEDIA_TYPES.PATCH[0]]: content['application/json'] };
  return { required: true, description: body.description, content: { ...patch, ...content } };
}

/** The schemas that have a name, as JSON Schema 2020-12 with references among them. */
export function* schemaComponents(groups: readonly OperationGroup[]): Parts<Record<string, Schema>> {
  const operations = groups.flatMap((group): readonly Operation[] => group.operations);
  const components: Record<string, Schema> = {};
  for (const schema of new Set([...operations.flatMap(namedSchemas), ErrorBody])) {
    for (const [name, component] of convert(schema)) components[name] ??= component;
    yield;
  }
  return components;
}

function namedSchemas({ body, parameters, answer: { content } }: Operation): readonly z.ZodType[] {
  const named = Object.values(parameters).map((parameter) => parameter.named);
  return [content?.schema, body?.schema, ...named].filter((schema) => schema !== undefined);
}

/** A schema by its name, and the named ones inside of it. */
function convert(schema: z.ZodType): (readonly [name: string, component: Schema])[] {
  const { $schema: _dialect, $defs = {}, ...own } = z.toJSONSchema(schema, CONVERSION);
  // A schema that refers to its own name is among the definitions.
  const all = own.$ref === undefined ? { [schema.meta()?.id ?? '']: own, ...$defs } : $defs;
  const text = JSON.stringify(all);
  const bare = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Record<string, Schema>;
  return Object.entries(bare).map(([name, { id: _id, $id: _address, ...rest }]) => [name, rest]);
}
