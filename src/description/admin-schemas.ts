// Contract: section 10.2.
import { z } from 'zod';
import type { AnyOperation } from '../http/declaration.ts';
import { CONVERSION, ErrorBody } from './schemas.ts';
import type { Schema } from './types.ts';

/** The named schemas of operations and of errors, as components. */
export function adminSchemas(operations: readonly Pick<AnyOperation, 'body' | 'answers'>[]) {
  const used = operations.flatMap(({ body, answers }) => [
    ...(body === undefined ? [] : [body.schema]),
    ...Object.values(answers).flatMap(({ content }) => (content === undefined ? [] : [content.schema])),
  ]);
  return Object.fromEntries([...used, ErrorBody].flatMap(componentsOf));
}

/** A schema by its name, and the named ones inside of it. */
function componentsOf(schema: z.ZodType): (readonly [string, Schema])[] {
  const { $schema: _dialect, $defs = {}, ...own } = z.toJSONSchema(schema, CONVERSION);
  // A schema that refers to its own name is among the definitions.
  const all = own.$ref === undefined ? { ...$defs, [schema.meta()?.id ?? '']: own } : $defs;
  const text = JSON.stringify(all);
  const bare = JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Record<string, Schema>;
  return Object.entries(bare).map(([name, { id: _id, $id: _address, ...its }]) => [name, its]);
}
