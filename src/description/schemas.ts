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
  .meta({ id: 'Error', description: 'Why a request was refused.' });

const CONVERSION = {
  // Clients may send fields that a schema does not have: the service ignores them.
  io: 'input',
  // A bigint has no JSON Schema. The metadata of an int64 says what it is.
  unrepresentable: 'any',
} as const;

/** JSON of this schema, with examples. */
export function json(schema: Schema | Ref, examples: Examples): Content {
  return { 'application/json': { schema, examples } };
}

/** JSON of a schema that has a name. */
export function toContent({ schema, examples }: { schema: z.ZodType; examples: Examples }): Content {
  return json({ $ref: `#/components/schemas/${schema.meta()?.id}` }, examples);
}

/** The body of a request, in each media type that it may have. */
export function requestBody(method: Method, body: NonNullable<Operation['body']>) {
  const content = toContent(body);
  const patch = method === 'PATCH' && { [MEDIA_TYPES.PATCH[0]]: content['application/json'] };
  return { required: true, description: body.description, content: { ...patch, ...content } };
}

/** The schemas that have a name, as JSON Schema 2020-12 with references among them. */
export function* schemaComponents(groups: readonly OperationGroup[]): Parts<Record<string, Schema>> {
  const messages = groups.flatMap(({ operations }) => operations.map(({ errors }) => errors.not_found));
  const notFound = errorExample('not_found', messages.find((message) => message !== undefined) ?? '');
  const named = [...groups.flatMap(namedSchemas), { schema: ErrorBody, example: notFound }];
  const components = new Map<string, Schema>();
  // In the order of the groups, each before what only occurs inside of it.
  for (const { schema } of named) components.set(schema.meta()?.id ?? '', {});
  for (const { schema, example } of named) {
    for (const [name, component] of convert(schema)) {
      const own = name === schema.meta()?.id && example !== undefined;
      const known = components.get(name);
      if (own) components.set(name, { ...component, examples: [example] });
      else if (known === undefined || Object.keys(known).length === 0) components.set(name, component);
    }
    yield;
  }
  return Object.fromEntries(components);
}

interface NamedSchema {
  readonly schema: z.ZodType;
  readonly example?: unknown;
}

function namedSchemas({ schemas, operations }: OperationGroup): readonly NamedSchema[] {
  if (schemas !== undefined) return schemas;
  return operations.flatMap(({ body, answer: { content } }) => [
    ...(body === undefined ? [] : [{ schema: body.schema }]),
    ...(content === undefined ? [] : [{ schema: content.schema }]),
  ]);
}

/** A schema by its name, and the named ones inside of it. */
function convert(schema: z.ZodType): (readonly [name: string, component: Schema])[] {
  const { $schema: _dialect, $defs = {}, ...own } = z.toJSONSchema(schema, CONVERSION);
  // A schema that refers to its own name is among the definitions.
  const all = own.$ref === undefined ? { ...$defs, [schema.meta()?.id ?? '']: own } : $defs;
  const text = JSON.stringify(all);
  const bare = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Record<string, Schema>;
  return Object.entries(bare).map(([name, { id: _id, $id: _address, ...rest }]) => [name, rest]);
}
