// Contract: section 2.
import { join, raw, type Row, Sql, sql, type Value } from './sql.ts';

/** How both databases declare a column: an int64, or text in UTF-8. With a question mark it may be null. */
export type ColumnType = 'integer' | 'integer?' | 'text' | 'text?';

/** How a column holds a value. Both databases return an integer as bigint. */
export interface Codec<T, Optional extends boolean = boolean> {
  readonly type: 'integer' | 'text';
  /** A column without a value is null in the database, and an absent property of the row. */
  readonly isOptional: Optional;
  decode(stored: never): T;
  encode(value: T): Value;
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
  decode: (stored: bigint) => Number(stored),
  encode: (value) => value,
};

/** Unix milliseconds. */
export const instant = integer;

export const boolean: Codec<boolean, false> = {
  type: 'integer',
  isOptional: false,
  decode: (stored: bigint) => stored !== 0n,
  encode: (value) => (value ? 1 : 0),
};

export const text: Codec<string, false> = {
  type: 'text',
  isOptional: false,
  decode: (stored: string) => stored,
  encode: (value) => value,
};

/** One of these texts. */
export function enumeration<T extends string>(_values: readonly T[]): Codec<T, false> {
  return text as Codec<never, false>;
}

/** A value that JSON can hold. */
export function json<T>(): Codec<T, false> {
  return {
    type: 'text',
    isOptional: false,
    decode: (stored: string) => JSON.parse(stored) as T,
    encode: (value) => JSON.stringify(value),
  };
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
      const stored = row[index];
      if (stored !== null) object[property] = codec.decode(stored as never);
    }
    return object as RowObject<C>;
  };
}

/** A row of a table as an object. */
export type Stored<T> = T extends Table<infer C> ? RowObject<C> : never;

/** The values of a new row. The database assigns the id, unless there is one. */
export type NewRow<C extends Codecs> = Omit<RowObject<C>, 'id' | Names<C, true>> & {
  readonly [Name in Names<C, true>]?: Decoded<C[Name]> | undefined;
} & { readonly id?: number | bigint };

/** A table, without its codecs. */
export type AnyTable = Pick<Table, 'name' | 'key' | 'assignsIds' | 'list' | 'columns'>;

interface Property {
  readonly property: string;
  readonly column: string;
  readonly codec: Codec<unknown>;
}

/** A table, declared once. A property `accountId` is the column `account_id`. */
export class Table<const C extends Codecs = Codecs> {
  readonly name: string;
  readonly codecs: C;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Whether the database assigns its ids: ascending, and none of them twice. */
  readonly assignsIds: boolean;
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
    { key, assignsIds = false }: { readonly key: readonly string[]; readonly assignsIds?: boolean },
  ) {
    this.name = name;
    this.codecs = codecs;
    this.parse = createParser(codecs);
    this.key = key;
    this.assignsIds = assignsIds;
    this.#properties = Object.entries(codecs).map(([property, codec]) => ({
      property,
      column: property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
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

  /** The values of a row without its id, in the order of `list`. */
  encodeNew(object: NewRow<C>): Value[] {
    return this.#propertiesWithoutId.map((property) => encode(property, object));
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
