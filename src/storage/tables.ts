// Contract: section 2.

/** How both databases declare a column: an int64, or text in UTF-8. With a question mark it may be null. */
export type ColumnType = 'integer' | 'integer?' | 'text' | 'text?';

export interface Table {
  readonly name: string;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** In the order in which rows have them. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[];
  /** Whether the database assigns its ids: ascending, and none of them twice. */
  readonly assignsIds: boolean;
}

/** The name of a column of this table. */
type ColumnOf<T extends Table> = T['columns'][number][0];

interface ValueOf {
  readonly integer: bigint;
  readonly 'integer?': bigint | null;
  readonly text: string;
  readonly 'text?': string | null;
}

/** A whole row as both databases return it: an array in the order of the columns, integers as bigint. */
export type RowOf<T extends Table> = ValuesOf<T['columns']>;

type ValuesOf<Columns extends Table['columns']> = {
  readonly [Index in keyof Columns]: ValueOf[Columns[Index][1]];
};

/** The columns of a table for a SELECT or RETURNING, in the order of `RowOf`. */
export function columnsOf({ columns }: Table, alias?: string): string {
  return columns.map(([name]) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');
}

/** An INSERT of one row with these columns, or all of them, as `$1`, `$2`, … */
export function insertInto<T extends Table>(table: T, columns?: readonly ColumnOf<T>[]): string {
  const names = columns ?? table.columns.map(([name]) => name);
  const places = names.map((_, index) => `$${index + 1}`);
  return `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${places.join(', ')})`;
}
