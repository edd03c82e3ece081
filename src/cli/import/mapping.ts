import { InvalidArgumentError } from 'commander';
import { PetStoreError } from '../../domain/errors.ts';
import { int64FromJson } from '../../domain/int64.ts';
import { type NewPet, parseNewPet } from '../../domain/pet.ts';
import type { ReadableRow } from './row.ts';

const FIELDS = ['name', 'categoryId', 'status'] as const;

type Field = (typeof FIELDS)[number];

interface Source {
  readonly column: string;
  /** What stands for which value; without, a value stands for itself. */
  readonly values: ReadonlyMap<string, string> | undefined;
}

/** The columns that fields are taken from; a field that is not in it comes from the column of its own name. */
export type Mapping = ReadonlyMap<Field, Source>;

export const MAP_SYNTAX = 'field=COLUMN or field=COLUMN:VALUE=RESULT,VALUE=RESULT';

/** Adds what one `--map` says: see MAP_SYNTAX. */
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

/** Faultless values in place of unmapped ones, so that the other fields of the row are still looked at. */
const STAND_INS: Readonly<NewPet> = { name: '-', categoryId: 0n, status: 'sold' };

/** The columns without which no row can be read; `status` may be missing unless it was asked for. */
export function neededColumns(mapping: Mapping): readonly string[] {
  return FIELDS.filter((field) => field !== 'status' || mapping.has(field)).map(
    (field) => mapping.get(field)?.column ?? field,
  );
}

/**
 * The animal that a row describes.
 * @throws PetStoreError `invalid_request` with every reason why it is none.
 */
export function petOf(row: ReadableRow, mapping: Mapping): NewPet {
  const values: Partial<Record<Field, unknown>> = {};
  const unmapped: string[] = [];
  for (const field of FIELDS) {
    const source = mapping.get(field);
    const value = row.value(source?.column ?? field);
    let result = value;
    if (source?.values !== undefined) {
      result = source.values.get(written(value));
      if (result === undefined) {
        unmapped.push(`${source.column} ${JSON.stringify(written(value))} is not mapped to a ${field}.`);
        values[field] = STAND_INS[field];
      }
    }
    const textual = row.textOnly || source?.values !== undefined;
    if (textual && typeof result === 'string') result = fromText(field, result);
    if (result !== undefined) values[field] = result;
  }
  if (unmapped.length === 0) return parseNewPet(values);
  throw new PetStoreError('invalid_request', [...faultsOf(values), ...unmapped].join(' '));
}

function faultsOf(values: unknown): readonly string[] {
  try {
    parseNewPet(values);
    return [];
  } catch (error) {
    if (error instanceof PetStoreError) return [error.message];
    throw error;
  }
}

/** How a value is named in a mapping: nothing at all as the empty text, a nested one as what no mapping names. */
function written(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  return value === undefined || value === null ? '' : '{…}';
}

/** A value that is written as text; an empty status is none. */
function fromText(field: Field, text: string): unknown {
  switch (field) {
    case 'name':
      return text;
    case 'categoryId':
      return int64FromJson(text) ?? text;
    case 'status':
      return text === '' ? undefined : text;
  }
}
