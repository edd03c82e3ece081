// Contract: sections 2 and 4.1.
import { z } from 'zod';
import type { AnyOperation, Examples, Method } from '../http/declaration.ts';
import { RESOURCES } from '../api/index.ts';
import { getPet } from '../api/pets.ts';
import { ERROR_CODES } from '../domain/errors.ts';
import { MEDIA_TYPES } from '../http/body.ts';
import { errorExample, MESSAGES } from './errors.ts';
import type { Content, Ref, Schema } from './types.ts';

/** The body of every error response. */
export const ErrorBody = z
  .strictObject({
    code: z.enum(ERROR_CODES).meta({ description: 'Machine-readable error code.' }),
    message: z
      .string()
      .min(1)
      .max(1_000)
      .regex(/\S/)
      .meta({ description: 'Human-readable description of the error: what to do about it.' }),
    status: z
      .int()
      .min(400)
      .max(599)
      .meta({ format: 'int32', description: 'The HTTP status code of the response.' }),
  })
  .meta({ id: 'Error', description: 'Why a request was refused.' });

export const CONVERSION = {
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
export function contentOf({ schema, examples }: { schema: z.ZodType; examples: Examples }): Content {
  return json({ $ref: `#/components/schemas/${schema.meta()?.id}` }, examples);
}

/** The body of a request, in each media type that it may have. */
export function requestBody(method: Method, body: NonNullable<AnyOperation['body']>) {
  const content = contentOf(body);
  const patch = method === 'PATCH' && { [MEDIA_TYPES.PATCH[0]]: content['application/json'] };
  return { required: true, description: body.description, content: { ...patch, ...content } };
}

/** The schemas that have a name, as JSON Schema 2020-12 with references among them. */
export function schemaComponents(): Record<string, Schema> {
  const example = errorExample('not_found', MESSAGES.not_found(getPet));
  const named = [...RESOURCES.flatMap(({ schemas }) => schemas), { schema: ErrorBody, example }];
  const registry = z.registry<{ id: string }>();
  for (const { schema } of named) registry.add(schema, { id: schema.meta()?.id ?? '' });
  const { schemas } = z.toJSONSchema(registry, { ...CONVERSION, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    named.map((each) => {
      const id = each.schema.meta()?.id ?? '';
      const { $schema: _dialect, $id: _address, ...bare } = schemas[id] ?? {};
      return [id, { ...bare, examples: [each.example] }];
    }),
  );
}
