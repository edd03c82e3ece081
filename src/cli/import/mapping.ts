import { InvalidArgumentError } from 'commander';
import { ServiceError } from '../../domain/errors.ts';
import { int64FromJson } from '../../domain/int64.ts';
import { type NewPet, parseNewPet } from '../../domain/pet.ts';
import type { ReadableRow } from './rows.ts';

const FIELDS = ['name', 'categoryId', 'status'] as const;

type Field = (typeof FIELDS)[number];

interface Origin {
  readonly column: string;
  /** The value for each text in the column. Undefined: the column holds the values themselves. */
  readonly values: ReadonlyMap<string, string> | undefined;
}

/** Where each field comes from. A field that is not in the map comes from the column of its own name. */
export type Mapping = ReadonlyMap<Field, Origin>;

export const MAP_SYNTAX = 'field=COLUMN or field=COLUMN:VALUE=RESULT,VALUE=RESULT';

/** Adds the field of one `--map`: see MAP_SYNTAX. */
export function addMapping(text: string, mapping: Mapping): Mapping {
  const match = /^([^=]+)=([^:]+)(?::(.*))?$/s.exec(text);
  const field = FIELDS.find((name) => name === match?.[1]);
  if (match?.[2] === undefined || field === undefined) {
    throw new InvalidArgumentError(`It must be ${MAP_SYNTAX}, with a field of ${FIELDS.join(', ')}.`);
  }
  if (mapping.has(field)) throw new InvalidArgumentError(`The field ${field} is mapped twice.`);
  return new Map(mapping).set(field, {
    column: match[2],
    values: match[3]?.split(',').reduce(addValue, new Map()),
  });
}

function addValue(values: Map<string, string>, text: string): Map<string, string> {
  const at = text.indexOf('=');
  if (at === -1) throw new InvalidArgumentError(`${JSON.stringify(text)} must be VALUE=RESULT.`);
  const value = text.slice(0, at);
  if (values.has(value))
    throw new InvalidArgumentError(`The value ${JSON.stringify(value)} is mapped twice.`);
  return values.set(value, text.slice(at + 1));
}

/** Valid values in place of unmapped ones, so that the other fields of the row are still checked. */
const PLACEHOLDERS: Readonly<NewPet> = { name: '-', categoryId: 0n, status: 'sold' };

/** The columns that a file must have. `status` may be missing unless it is mapped. */
export function neededColumns(mapping: Mapping): readonly string[] {
  return FIELDS.filter((field) => field !== 'status' || mapping.has(field)).map(
    (field) => mapping.get(field)?.column ?? field,
  );
}

/** The animal in a row, or all its faults, as sentences. */
export function newPetOf(row: ReadableRow, mapping: Mapping): NewPet | { readonly fault: string } {
  const values: Partial<Record<Field, unknown>> = {};
  const unmapped: string[] = [];
  for (const field of FIELDS) {
    const origin = mapping.get(field);
    let value = row.value(origin?.column ?? field);
    if (origin?.values !== undefined) {
      const text = mappingText(value);
      value = origin.values.get(text);
      if (value === undefined) {
        unmapped.push(`${origin.column} ${JSON.stringify(text)} is not mapped to a ${field}.`);
        values[field] = PLACEHOLDERS[field];
        continue;
      }
    }
    const isText = row.textOnly || origin?.values !== undefined;
    if (isText && typeof value === 'string') value = fromText(field, value);
    if (value !== undefined) values[field] = value;
  }
  try {
    const pet = parseNewPet(values);
    return unmapped.length === 0 ? pet : { fault: unmapped.join(' ') };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { fault: [error.message, ...unmapped].join(' ') };
  }
}

/** The text of a value in a mapping. A missing value is the empty text. Nested values can not be mapped. */
function mappingText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  return value === undefined || value === null ? '' : '{…}';
}

/** Reads a field from text. An empty status is none. */
function fromText(field: Field, text: string): unknown {
  if (field === 'categoryId') return int64FromJson(text) ?? text;
  return field === 'status' && text === '' ? undefined : text;
}
