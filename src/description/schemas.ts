// Contract: sections 2 and 4.1.
import { z } from 'zod';
import { RESOURCES } from '../api/index.ts';
import { getPet } from '../api/pets.ts';
import { ERROR_CODES } from '../domain/errors.ts';
import { errorExample, MESSAGES } from './errors.ts';
import type { Ref, Schema } from './types.ts';

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

const CONVERSION = {
  // Clients may send fields that a schema does not have: the service ignores them.
  io: 'input',
  // A bigint has no JSON Schema. The metadata of an int64 says what it is.
  unrepresentable: 'any',
} as const;

export function schemaRef(schema: z.ZodType): Ref {
  return { $ref: `#/components/schemas/${schema.meta()?.id}` };
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
