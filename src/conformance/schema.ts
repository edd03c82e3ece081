// Contract: sections 2 and 9.
import { elements, isObject, type Json } from './json.ts';

/** A schema of an OpenAPI 3.1 description, with the keywords that descriptions of ours use. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export type Schemas = Readonly<Record<string, Schema>>;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text),
  uri: (text) => URL.canParse(text),
};

/**
 * What is wrong with a value, as a sentence without a full stop that begins with its place; undefined if it fits. Members that
 * the schema does not name are allowed: a new field is a compatible change.
 */
export function findIssue(
  schema: Schema,
  value: Json | undefined,
  schemas: Schemas,
  place = 'the body',
): string | undefined {
  const { $ref, allOf = [], anyOf } = schema;
  for (const each of [...(($ref ?? '') === '' ? [] : [named($ref ?? '', schemas)]), ...allOf]) {
    const issue = findIssue(each, value, schemas, place);
    if (issue !== undefined) return issue;
  }
  if (anyOf !== undefined && anyOf.every((each) => findIssue(each, value, schemas, place) !== undefined))
    return `${place} fits none of its forms`;
  return (
    typeIssue(schema, value, place) ??
    valueIssue(schema, value, place) ??
    textIssue(schema, value, place) ??
    numberIssue(schema, value, place) ??
    partIssue(schema, value, schemas, place)
  );
}

function named(ref: string, schemas: Schemas): Schema {
  const found = schemas[ref.slice(ref.lastIndexOf('/') + 1)];
  if (found === undefined) throw new Error(`The description lacks ${ref}.`);
  return found;
}

function typeName(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  // Whether it is written as an integer is a promise of its own.
  return typeof value === 'bigint' || typeof value === 'number' ? 'integer' : typeof value;
}

function typeIssue({ type }: Schema, value: Json | undefined, place: string): string | undefined {
  const name = typeName(value);
  return type === undefined || name === type ? undefined : `${place} is ${name} instead of ${type}`;
}

function valueIssue(schema: Schema, value: Json | undefined, place: string): string | undefined {
  const plain = typeof value === 'bigint' ? Number(value) : value;
  if ('const' in schema && plain !== schema.const) return `${place} is not ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined && !schema.enum.includes(plain))
    return `${place} is none of ${schema.enum.join(', ')}`;
  return undefined;
}

function textIssue(
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format }: Schema,
  value: Json | undefined,
  place: string,
): string | undefined {
  if (typeof value !== 'string') return undefined;
  const length = value.length > maxLength ? Array.from(value).length : value.length;
  if (length < minLength || length > maxLength) return `${place} has ${length} characters`;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return `${place} does not match ${pattern}`;
  if (format !== undefined && FORMATS[format]?.(value) === false) return `${place} is no ${format}`;
  return undefined;
}

function numberIssue(
  { format, minimum, maximum }: Schema,
  value: Json | undefined,
  place: string,
): string | undefined {
  if (typeof value !== 'bigint') return undefined;
  // Whether it is an int64 is a promise of its own.
  const isInside =
    (format !== 'int32' || (value >= -(2n ** 31n) && value < 2n ** 31n)) &&
    (minimum === undefined || value >= minimum) &&
    (maximum === undefined || value <= maximum);
  return isInside ? undefined : `${place} is ${value}, which is out of its range`;
}

function partIssue(
  { properties = {}, required = [], items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema,
  value: Json | undefined,
  schemas: Schemas,
  place: string,
): string | undefined {
  if (isObject(value)) {
    const missing = required.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return `${place} lacks ${missing}`;
    for (const [name, schema] of Object.entries(properties)) {
      // That no field is null is a promise of its own.
      if (!Object.hasOwn(value, name) || value[name] === null) continue;
      const issue = findIssue(schema, value[name], schemas, place === 'the body' ? name : `${place}.${name}`);
      if (issue !== undefined) return issue;
    }
  }
  if (!Array.isArray(value)) return undefined;
  const list = elements(value);
  if (list.length < minItems || list.length > maxItems) return `${place} has ${list.length} elements`;
  if (items === undefined) return undefined;
  for (const [index, element] of list.entries()) {
    const issue = findIssue(
      items,
      element,
      schemas,
      place === 'the body' ? `[${index}]` : `${place}[${index}]`,
    );
    if (issue !== undefined) return issue;
  }
  return undefined;
}
