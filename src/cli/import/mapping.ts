import { InvalidArgumentError } from 'commander';
import { NewCategory } from '../../resources/categories/schema.ts';
import { ServiceError } from '../../domain/errors.ts';
import { int64FromJson } from '../../domain/int64.ts';
import { faultsOf } from '../../domain/parse.ts';
import { NewPet, parseNewPet } from '../../resources/pets/schema.ts';
import type { ReadableRow } from './rows.ts';

const FIELDS = ['name', 'categoryId', 'status'] as const;

type Field = (typeof FIELDS)[number];

/** The value in a mapping that stands for all that it does not list, also for an empty or missing one. */
const OTHERS = '*';

/** The result of a value that stays as it is. */
const KEPT = Symbol('kept');

interface Origin {
  readonly column: string;
  /**
   * The result of each value in the column. Undefined: the column holds the results themselves, or the names of
   * categories.
   */
  readonly results: ReadonlyMap<string, unknown> | undefined;
}

/** Where each field comes from. A field that is not in the map comes from the column of its own name. */
export type Mapping = ReadonlyMap<Field, Origin>;

/** A text like this in a column of categories is an id, or a faulty one, and no name. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** What a row holds. */
export interface ReadPet {
  readonly pet: NewPet;
  /** The name of its category, which takes the place of `categoryId`. */
  readonly category: string | undefined;
}

export const MAP_SYNTAX = 'field=COLUMN or field=COLUMN:VALUE=RESULT,VALUE=RESULT';

/** Characters. A reason shows no more of a value, because the summary keeps reasons in memory. */
const SHOWN_MAX = 80;

/** These valid values replace fields without a mapping, so that the check of a row finds the faults of its other fields. */
const PLACEHOLDERS: NewPet = { name: '-', categoryId: 0n };

/** Adds the field of one `--map`: see MAP_SYNTAX. */
export function addMapping(text: string, mapping: Mapping): Mapping {
  const match = /^([^=]+)=([^:]+)(?::(.*))?$/s.exec(text);
  const field = FIELDS.find((name) => name === match?.[1]);
  if (match?.[2] === undefined || field === undefined) {
    throw new InvalidArgumentError(`It must be ${MAP_SYNTAX}, with a field of ${FIELDS.join(', ')}.`);
  }
  if (mapping.has(field)) throw new InvalidArgumentError(`The field ${field} is mapped twice.`);
  const results = match[3]
    ?.split(',')
    .reduce((all, each) => addResult(field, all, each), new Map<string, unknown>());
  return new Map(mapping).set(field, { column: match[2], results });
}

function addResult(field: Field, results: Map<string, unknown>, text: string): Map<string, unknown> {
  const at = text.indexOf('=');
  if (at === -1 && text !== OTHERS) {
    throw new InvalidArgumentError(`${shown(text)} must be VALUE=RESULT, *=RESULT or *.`);
  }
  const value = at === -1 ? text : text.slice(0, at);
  if (results.has(value)) throw new InvalidArgumentError(`The value ${shown(value)} is mapped twice.`);
  return results.set(value, at === -1 ? KEPT : resultFrom(field, text.slice(at + 1)));
}

/** @throws InvalidArgumentError when no animal can have this result. */
function resultFrom(field: Field, text: string): unknown {
  const result = fromText(field, text);
  try {
    parseNewPet({ ...PLACEHOLDERS, ...(result !== undefined && { [field]: result }) });
    return result;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new InvalidArgumentError(`The result ${shown(text)} fits no animal: ${error.message}`);
  }
}

/** The columns that a file must have. `status` may be missing unless it is mapped. */
export function neededColumns(mapping: Mapping): readonly string[] {
  return FIELDS.filter((field) => field !== 'status' || mapping.has(field)).map(
    (field) => mapping.get(field)?.column ?? field,
  );
}

/** Whether a column holds the names of categories. */
export function mapsNames(mapping: Mapping): boolean {
  const origin = mapping.get('categoryId');
  return origin !== undefined && origin.results === undefined;
}

/** The animal in a row, or all its faults, as sentences. */
export function readPet(
  row: ReadableRow,
  mapping: Mapping,
): ReadPet | { readonly faults: readonly string[] } {
  const values: Partial<Record<Field, unknown>> = {};
  const unmapped: string[] = [];
  let category: string | undefined;
  for (const field of FIELDS) {
    const { column, results } = mapping.get(field) ?? { column: field, results: undefined };
    const given = row.value(column);
    let value: unknown = KEPT;
    if (results !== undefined) {
      const text = mappingText(given);
      const listed = results.has(text) ? text : OTHERS;
      if (!results.has(listed)) unmapped.push(`${column} ${shown(text)} is not mapped to a ${field}.`);
      value = results.has(listed) ? results.get(listed) : PLACEHOLDERS[field];
    }
    const isName = field === 'categoryId' && mapsNames(mapping) && !isNumber(given);
    const isText = row.textOnly && typeof given === 'string' && !isName;
    if (value === KEPT) value = isText ? fromText(field, given) : given;
    if (isName) {
      const name = NewCategory.shape.name.safeParse(given);
      if (!name.success) unmapped.push(`${column} ${name.error.issues[0]?.message}.`);
      category = name.data;
      value = PLACEHOLDERS.categoryId;
    }
    if (value !== undefined) values[field] = value;
  }
  const { data, error } = NewPet.safeParse(values);
  const faults = error === undefined ? [] : faultsOf(NewPet, values, error).map((fault) => `${fault}.`);
  if (data === undefined || unmapped.length > 0) return { faults: [...faults, ...unmapped] };
  return { pet: data, category };
}

function isNumber(value: unknown): boolean {
  return typeof value === 'string' ? NUMBER.test(value) : ['bigint', 'number'].includes(typeof value);
}

/** The text of a value in a mapping. A missing value is the empty text. Nested values cannot be mapped. */
function mappingText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  return value === undefined || value === null ? '' : '{…}';
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text);
}

/** Reads a field from text. An empty status is none. A text that is no number is none: in text, a number is no string. */
function fromText(field: Field, text: string): unknown {
  if (field === 'categoryId') return int64FromJson(text) ?? Number.NaN;
  return field === 'status' && text === '' ? undefined : text;
}
