// Contract: section 2.
import { FIRST_INSTANT, LAST_INSTANT } from '../domain/instant.ts';
import { join, raw, type Row, Sql, sql, type Value } from './sql.ts';

/** How both databases declare a column: an int64, or text in UTF-8. With a question mark it may be null. */
export type ColumnType = 'integer' | 'integer?' | 'text' | 'text?';

/** How a column holds a value. Both databases return an integer as bigint. */
export interface Codec<T, Optional extends boolean = boolean> {
  readonly type: 'integer' | 'text';
  /** A column without a value is null in the database, and an absent property of the row. */
  readonly isOptional: Optional;
  /** The column, with its table. */
  readonly column?: string;
  /** @throws WrongValue */
  decode(stored: never): T;
  encode(value: T): Value;
}

/** The database holds what this column cannot hold: a fault of ours, or of who changed the database. */
class WrongValue extends Error {
  constructor(expected: string, stored: Value | undefined) {
    super(`${describeStored(stored)} instead of ${expected}`);
  }
}

/** A text that is no short word may be a secret, so it is not shown. */
function describeStored(stored: Value | undefined): string {
  if (typeof stored !== 'string') return String(stored ?? 'nothing');
  return /^[a-z][a-z_.: -]{0,31}$/i.test(stored) ? `"${stored}"` : `a text of ${stored.length} characters`;
}

/** An int64, exact. */
export const int64: Codec<bigint, false> = {
  type: 'integer',
  isOptional: false,
  decode: (stored: bigint) => stored,
  encode: (value) => value,
};

/** A safe integer. */
export const integer: Codec<number, false> = {
  type: 'integer',
  isOptional: false,
  decode(stored: bigint) {
    const number = Number(stored);
    if (!Number.isSafeInteger(number)) throw new WrongValue('a safe integer', stored);
    return number;
  },
  encode: (value) => value,
};

/** Unix milliseconds of an instant that a date-time can name. */
export const instant: Codec<number, false> = {
  ...integer,
  decode(stored: bigint) {
    const time = Number(stored);
    if (!(time >= FIRST_INSTANT && time <= LAST_INSTANT)) throw new WrongValue('an instant', stored);
    return time;
  },
};

export const boolean: Codec<boolean, false> = {
  type: 'integer',
  isOptional: false,
  decode(stored: bigint) {
    if (stored !== 0n && stored !== 1n) throw new WrongValue('0 or 1', stored);
    return stored === 1n;
  },
  encode: (value) => (value ? 1 : 0),
};

export const text: Codec<string, false> = {
  type: 'text',
  isOptional: false,
  decode: (stored: string) => stored,
  encode: (value) => value,
};

/**
 * One of these texts. Where a later version may add one, the column is `text`, and readers skip what they do not know:
 * while an upgrade runs, versions share the database.
 */
export function enumeration<const T extends string>(values: readonly T[]): Codec<T, false> {
  const known: ReadonlySet<string> = new Set(values);
  return {
    type: 'text',
    isOptional: false,
    decode(stored: T) {
      if (!known.has(stored)) throw new WrongValue(`one of "${values.join('", "')}"`, stored);
      return stored;
    },
    encode: (value) => value,
  };
}

/** A value of this kind as JSON. */
export function json<T>(kind: string, isOfKind: (value: unknown) => value is T): Codec<T, false> {
  return {
    type: 'text',
    isOptional: false,
    decode(stored: string) {
      const value = parseJson(stored);
      if (!isOfKind(value)) throw new WrongValue(`${kind} as JSON`, stored);
      return value;
    },
    encode: (value) => JSON.stringify(value),
  };
}

/** Undefined when it is no JSON. The message of JSON.parse would show a part of the text. */
function parseJson(stored: string): unknown {
  try {
    return JSON.parse(stored);
  } catch {
    return undefined;
  }
}

/** Texts as JSON. One of a later version stays among them: readers look for those that they know. */
export function textList<T extends string>(): Codec<readonly T[], false> {
  return json('a list of texts', (value): value is readonly T[] => isListOf(value, 'string'));
}

export const numberList = json('a list of numbers', (value): value is number[] => isListOf(value, 'number'));

function isListOf(value: unknown, type: 'string' | 'number'): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === type);
}

export function optional<T>(codec: Codec<T, false>): Codec<T, true> {
  return { ...codec, isOptional: true };
}

export type Codecs = Readonly<Record<string, Codec<unknown>>>;

type Names<C extends Codecs, Optional extends boolean> = {
  [Name in keyof C]: C[Name]['isOptional'] extends Optional ? Name : never;
}[keyof C];

type Decoded<C> = C extends Codec<infer T> ? T : never;

export type RowObject<C extends Codecs> = {
  readonly [Name in Names<C, false>]: Decoded<C[Name]>;
} & { readonly [Name in Names<C, true>]?: Decoded<C[Name]> };

/**
 * Makes a function that reads rows with these columns, in their order, as objects. For a join, `Table.codecs` come first:
 * `{ ...ORDERS.codecs, account: text }`.
 */
export function createParser<const C extends Codecs>(codecs: C): (row: Row) => RowObject<C> {
  const columns = Object.entries<Codec<unknown>>(codecs);
  return (row) => {
    const object: Record<string, unknown> = {};
    for (const [index, [property, codec]] of columns.entries()) {
      const stored = row[index] as Value | undefined;
      if (stored !== null || !codec.isOptional) object[property] = decode(property, codec, stored);
    }
    return object as RowObject<C>;
  };
}

function decode(property: string, codec: Codec<unknown>, stored: Value | undefined): unknown {
  try {
    if (stored === null || stored === undefined) throw new WrongValue('a value', stored);
    return codec.decode(stored as never);
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new Error(`The column ${codec.column ?? toColumn(property)} has ${error.message}.`, {
      cause: error,
    });
  }
}

/** A property `accountId` is the column `account_id`. */
function toColumn(property: string): string {
  return property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A row of a table as an object. */
export type Stored<T> = T extends Table<infer C> ? RowObject<C> : never;

/** The values of a new row. The database assigns the id, unless there is one. */
export type NewRow<C extends Codecs> = Omit<RowObject<C>, 'id' | Names<C, true>> & {
  readonly [Name in Names<C, true>]?: Decoded<C[Name]> | undefined;
} & { readonly id?: number | bigint };

/** A table, without its codecs. */
export type AnyTable = Pick<Table, 'name' | 'key' | 'assignsIds' | 'stamp' | 'list' | 'columns'>;

interface Property {
  readonly property: string;
  readonly column: string;
  readonly codec: Codec<unknown>;
}

/** A table, declared once. */
export class Table<const C extends Codecs = Codecs> {
  readonly name: string;
  readonly codecs: C;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Whether the database assigns its ids: ascending, and none of them twice. */
  readonly assignsIds: boolean;
  /** The column in which `Transaction.add` writes the instant. Rows have none. */
  readonly stamp: string | undefined;
  /** All columns for SELECT and RETURNING, in the order in which rows have them. */
  readonly list: Sql;
  /** The same, with their types. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  /** The object of a row that has the columns of `list`. */
  readonly parse: (row: Row) => RowObject<C>;
  readonly #selection: string;
  readonly #properties: readonly Property[];
  readonly #propertiesWithoutId: readonly Property[];

  constructor(
    name: string,
    codecs: C,
    {
      key,
      assignsIds = false,
      stamp,
    }: { readonly key: readonly string[]; readonly assignsIds?: boolean; readonly stamp?: string },
  ) {
    this.name = name;
    this.codecs = Object.fromEntries(
      Object.entries<Codec<unknown>>(codecs).map(([property, codec]) => [
        property,
        { ...codec, column: `${name}.${toColumn(property)}` },
      ]),
    ) as unknown as C;
    this.parse = createParser(this.codecs);
    this.key = key;
    this.assignsIds = assignsIds;
    this.stamp = stamp;
    this.#properties = Object.entries(codecs).map(([property, codec]) => ({
      property,
      column: toColumn(property),
      codec,
    }));
    this.#propertiesWithoutId = this.#properties.filter(({ property }) => property !== 'id');
    this.list = raw(this.#properties.map(({ column }) => column).join(', '));
    this.#selection = `SELECT ${this.list.sql} FROM ${name} `;
    this.columns = this.#properties.map(({ column, codec: { type, isOptional } }) => [
      column,
      isOptional ? `${type}?` : type,
    ]);
  }

  /** `list` for the table under an alias. */
  listAs(alias: string): Sql {
    return raw(this.#properties.map(({ column }) => `${alias}.${column}`).join(', '));
  }

  /** A SELECT of all columns, with this end. */
  select({ strings: [first = '', ...others], values }: Sql): Sql {
    return new Sql([this.#selection + first, ...others], values);
  }

  /** The values of a whole row in the order of `list`. */
  encode(object: RowObject<C>): Value[] {
    return this.#properties.map((property) => encode(property, object));
  }

  /** An INSERT of rows, without an end such as RETURNING. The database assigns ids, unless the first row has one. */
  insert(...objects: readonly NewRow<C>[]): Sql {
    const properties = objects[0]?.id === undefined ? this.#propertiesWithoutId : this.#properties;
    const columns = raw(properties.map(({ column }) => column).join(', '));
    const rows = objects.map(
      (object) => sql`(${join(properties.map((property) => encode(property, object)))})`,
    );
    return sql`INSERT INTO ${raw(this.name)} (${columns}) VALUES ${join(rows)}`;
  }

  /** The values of a row without its id, in the order of `list`. `now`: what `stamp` gets. */
  encodeNew(object: NewRow<C>, now: Value = null): Value[] {
    return this.#propertiesWithoutId.map((property) =>
      property.column === this.stamp ? now : encode(property, object),
    );
  }

  /** The assignments of an UPDATE. A property that is undefined becomes null. */
  set(changes: { readonly [Name in keyof C]?: Decoded<C[Name]> | undefined }): Sql {
    const properties = this.#properties.filter(({ property }) => property in changes);
    const starts = properties.map(({ column }, index) => `${index === 0 ? '' : ', '}${column} = `);
    return new Sql(
      [...starts, ''],
      properties.map((property) => encode(property, changes)),
    );
  }
}

function encode({ property, codec }: Property, object: object): Value {
  const value = (object as Readonly<Record<string, unknown>>)[property];
  return value === undefined ? null : codec.encode(value);
}
