import { InvalidArgumentError } from 'commander';
import { NewCategory } from '../../resources/categories/schema.ts';
import { ServiceError } from '../../domain/errors.ts';
import { int64FromJson } from '../../domain/int64.ts';
import { listIssues } from '../../domain/parse.ts';
import { NewPet, parseNewPet } from '../../resources/pets/schema.ts';
import { FIELD_NAMES, type FieldName, findBirthDateIssue } from '../../resources/pets/rules.ts';
import type { WantedColumn } from './columns.ts';
import { fieldsOf } from './csv-records.ts';
import type { ReadableRow } from './rows.ts';

/** The value in a mapping that stands for all that it does not list, also for an empty or missing one. */
const OTHERS = '*';

/** The key of the result of all other values. A value in quotes may be the text `*`. */
const ANY = Symbol('any');

/** The result of a value that stays as it is. */
const KEPT = Symbol('kept');

type Results = ReadonlyMap<string | symbol, unknown>;

interface Origin {
  readonly column: string;
  /**
   * The result of each value in the column. Undefined: the column holds the results themselves, or the names of
   * categories.
   */
  readonly results: Results | undefined;
}

/** Where each field comes from. A field that is not in the map comes from the column of its own name. */
export type Mapping = ReadonlyMap<FieldName, Origin>;

/** A text like this in a column of categories is an id, or a wrong one, and no name. */
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** What a row holds. */
export interface ReadPet {
  readonly pet: NewPet;
  /** The name of its category, which takes the place of `categoryId`. */
  readonly category: string | undefined;
}

export const MAP_SYNTAX = 'field=COLUMN or field=COLUMN:VALUE=RESULT,VALUE=RESULT';

/** A column, a value or a result: in quotes, with the quotes in it doubled, or bare up to what ends it. */
const QUOTED = '"(?:[^"]|"")*"';
const MAPPED_COLUMN = new RegExp(`^([^=]+)=(${QUOTED}|(?!")[^:]+)(?::(.*))?$`, 's');
const MAPPED_RESULT = new RegExp(`(${QUOTED}|(?!")[^=,]*)(?:=(${QUOTED}|(?!")[^,]*))?(,|$)`, 'sy');

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}

/** Characters. A reason shows no more of a value, because the summary keeps reasons in memory. */
const SHOWN_MAX = 80;

const NONE: ReadonlySet<FieldName> = new Set();

/** Valid values for fields without a mapping, so that the check of a row finds the issues of its other fields. */
const PLACEHOLDERS: NewPet = { name: '-', categoryId: 0n };

/** Adds the field of one `--map`: see MAP_SYNTAX. */
export function addMapping(text: string, mapping: Mapping): Mapping {
  const [, name, column, list] = MAPPED_COLUMN.exec(text) ?? [];
  const field = FIELD_NAMES.find((each) => each === name);
  if (column === undefined || field === undefined) {
    throw new InvalidArgumentError(`It must be ${MAP_SYNTAX}, with a field of ${FIELD_NAMES.join(', ')}.`);
  }
  if (mapping.has(field)) throw new InvalidArgumentError(`The field ${field} is mapped twice.`);
  const results = list === undefined ? undefined : readResults(field, list);
  return new Map(mapping).set(field, { column: unquoted(column), results });
}

function readResults(field: FieldName, list: string): Results {
  const results = new Map<string | symbol, unknown>();
  MAPPED_RESULT.lastIndex = 0;
  for (let end = ','; end === ','; ) {
    const at = MAPPED_RESULT.lastIndex;
    const [whole, value, result, next] = MAPPED_RESULT.exec(list) ?? [];
    if (whole === undefined || value === undefined || (result === undefined && value !== OTHERS)) {
      const part = whole === undefined ? list.slice(at) : whole.replace(/,$/, '');
      throw new InvalidArgumentError(
        `${shown(part)} must be VALUE=RESULT, *=RESULT or *. ` +
          'A VALUE or RESULT with a comma stands in quotes: "a, b"=RESULT.',
      );
    }
    const key = value === OTHERS ? ANY : unquoted(value);
    if (results.has(key)) throw new InvalidArgumentError(`The value ${shown(value)} is mapped twice.`);
    results.set(key, result === undefined ? KEPT : resultFrom(field, key, unquoted(result)));
    end = next ?? '';
  }
  return results;
}

/** @throws InvalidArgumentError when no animal can have this result. */
function resultFrom(field: FieldName, value: string | symbol, text: string): unknown {
  // The category of animals that have none of their own may be given by its name.
  const isName = field === 'categoryId' && (value === '' || value === ANY) && !NUMBER.test(text);
  if (isName && NewCategory.shape.name.safeParse(text).success) return text;
  const result = fromText(field, text);
  try {
    parseNewPet({ ...PLACEHOLDERS, ...(result !== undefined && { [field]: result }) });
    return result;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new InvalidArgumentError(`The result ${shown(text)} fits no animal: ${error.message}`);
  }
}

/**
 * The columns that the fields come from. Those of optional fields may be missing unless they are mapped. When animals
 * are kept in step with the file, all but the reference may.
 */
export function wantedColumns(mapping: Mapping, isUpdate = false): readonly WantedColumn[] {
  return FIELD_NAMES.map((field) => ({
    name: mapping.get(field)?.column ?? field,
    isMapped: mapping.has(field),
    isNeeded: isUpdate ? field === 'reference' : field === 'name' || field === 'categoryId',
  }));
}

/** Whether a column holds the names of categories, or a result is one. */
function mapsNames(mapping: Mapping): boolean {
  const origin = mapping.get('categoryId');
  if (origin === undefined) return false;
  return origin.results === undefined || origin.results.values().some((result) => typeof result === 'string');
}

/** Why a row holds no animal, as sentences. */
interface RefusedPet {
  readonly issues: readonly string[];
  /** Undefined when it cannot be read. */
  readonly reference?: string | undefined;
}

/**
 * The animal in a row, or all its issues. `now` is in Unix milliseconds. An animal needs no field in `lacking`:
 * placeholders stand for those that are required.
 */
export function readPet(
  row: ReadableRow,
  mapping: Mapping,
  now: number,
  lacking: ReadonlySet<FieldName> = NONE,
): ReadPet | RefusedPet {
  const values: Partial<Record<FieldName, unknown>> = {};
  const unmapped: string[] = [];
  let category: string | undefined;
  for (const field of FIELD_NAMES) {
    if (lacking.has(field)) {
      if (PLACEHOLDERS[field] !== undefined) values[field] = PLACEHOLDERS[field];
      continue;
    }
    const { column, results } = mapping.get(field) ?? { column: field, results: undefined };
    const cell = row.value(column);
    let value: unknown = KEPT;
    if (results !== undefined) {
      const text = mappingText(cell);
      const listed = results.has(text) ? text : ANY;
      if (!results.has(listed)) unmapped.push(`${column} ${shown(text)} is not mapped to a ${field}.`);
      value = results.has(listed) ? results.get(listed) : PLACEHOLDERS[field];
    }
    const named = value === KEPT ? cell : value;
    const isName =
      field === 'categoryId' &&
      mapsNames(mapping) &&
      !isNumber(named) &&
      (value === KEPT || typeof value === 'string');
    const isText = row.textOnly && typeof cell === 'string' && !isName;
    if (value === KEPT) value = isText ? fromText(field, cell) : cell;
    if (isName) {
      const name = NewCategory.shape.name.safeParse(named);
      if (!name.success) unmapped.push(`${column} ${name.error.issues[0]?.message}.`);
      category = name.data;
      value = PLACEHOLDERS.categoryId;
    }
    if (value !== undefined) values[field] = value;
  }
  const { data, error } = NewPet.safeParse(values);
  const issues =
    error === undefined
      ? []
      : listIssues(NewPet, values, error).map((issue) => `${issue}.${describeWord(issue, row, mapping)}`);
  const tooYoung = findBirthDateIssue(data?.birthDate, now);
  if (tooYoung !== undefined) issues.push(tooYoung);
  issues.push(...unmapped);
  if (data === undefined || issues.length > 0) return { issues, reference: readReference(values) };
  return { pet: data, category };
}

function readReference({ reference }: Partial<Record<FieldName, unknown>>): string | undefined {
  return NewPet.shape.reference.safeParse(reference).data;
}

/** The fields whose columns a row has, with or without a value. */
export function fieldsIn(row: ReadableRow, mapping: Mapping): readonly FieldName[] {
  return FIELD_NAMES.filter((field) => row.value(mapping.get(field)?.column ?? field) !== undefined);
}

/** A word that is refused is one of another system, which `--map` translates. */
function describeWord(issue: string, row: ReadableRow, mapping: Mapping): string {
  const field = /^(status|sex|size) must be one of/.exec(issue)?.[1] as FieldName | undefined;
  if (field === undefined) return '';
  const column = mapping.get(field)?.column ?? field;
  const held = shown(mappingText(row.value(column)));
  return ` Column ${column} holds ${held}: translate it with --map '${field}=${column}:VALUE=RESULT'.`;
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

/** The value of a field. An empty text is none, except as a name. A categoryId that is no number is NaN: refused. */
function fromText(field: FieldName, text: string): unknown {
  if (field === 'categoryId') return int64FromJson(text) ?? Number.NaN;
  if (field === 'name') return text;
  if (text === '') return undefined;
  if (field === 'photoUrls') return text.split(/\s+/).filter((address) => address !== '');
  if (field === 'tags') return readTags(text);
  return text;
}

/** The tags that `listCell` wrote. Text with a quote in the wrong place is no list. */
function readTags(text: string): unknown {
  const tags = fieldsOf(text, ';');
  return typeof tags === 'string' ? text : tags.filter((tag) => tag !== '');
}
