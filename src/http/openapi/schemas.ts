// Contract: section 2.
import { z } from 'zod';
import { int64 } from '../../domain/int64.ts';
import { NewPet, Pet, PetStatus } from '../../domain/pet.ts';
import { ErrorBody } from '../error-schema.ts';
import { LIMIT } from '../parameters.ts';
import { ERRORS, errorExample } from './errors.ts';
import { EXAMPLE_PET, NEW_PET, PET, PETS } from './examples.ts';
import type { Ref, Schema } from './types.ts';

const Pets = z.array(Pet).max(LIMIT.maximum).meta({ id: 'Pets', description: 'Animals, the newest first.' });

const COMPONENTS = {
  PetStatus: { schema: PetStatus, example: EXAMPLE_PET.status },
  NewPet: { schema: NewPet, example: NEW_PET },
  Pet: { schema: Pet, example: PET },
  Pets: { schema: Pets, example: PETS },
  Error: { schema: ErrorBody, example: errorExample('not_found', ERRORS.not_found.message) },
} as const;

type SchemaName = keyof typeof COMPONENTS;

const CONVERSION = {
  // What may be sent: a field that is not known is ignored, not refused.
  io: 'input',
  // The bigint of an int64 has no JSON Schema of its own: its metadata says what it is.
  unrepresentable: 'any',
} as const;

/** An int64 outside of any animal. */
export const INT64: Schema = bare(z.toJSONSchema(int64, CONVERSION));

export function schemaRef(name: SchemaName): Ref {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schemas that validate, as JSON Schema 2020-12 with references among them. */
export function schemaComponents(): Record<string, Schema> {
  const registry = z.registry<{ id: SchemaName }>();
  const names = Object.keys(COMPONENTS) as SchemaName[];
  for (const name of names) registry.add(COMPONENTS[name].schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, { ...CONVERSION, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    names.map((name) => [name, { ...bare(schemas[name] ?? {}), examples: [COMPONENTS[name].example] }]),
  );
}

/** Dialect and address are those of the description. */
function bare({ $schema: _dialect, $id: _address, ...schema }: Schema): Schema {
  return schema;
}
