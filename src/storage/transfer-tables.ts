// Contract: section 2.
/** How a column is declared in both databases: an int64, or text in UTF-8. */
export type ColumnType = 'integer' | 'text';

export interface Table {
  readonly name: string;
  /** The columns of the primary key, in its order. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Whether the database gives out its ids, ascending and none of them twice. */
  readonly assignsIds: boolean;
}

/**
 * Every table that holds data, alike in both databases, in an order in which no row refers to one that comes later.
 * A test holds the migrations of both to it.
 */
export const TABLES: readonly Table[] = [
  {
    name: 'accounts',
    key: ['id'],
    columns: {
      id: 'integer',
      name: 'text',
      plan: 'text',
      per_minute: 'integer',
      per_day: 'integer',
      created_at: 'integer',
    },
    assignsIds: true,
  },
  {
    name: 'keys',
    key: ['id'],
    columns: {
      id: 'integer',
      account_id: 'integer',
      hash: 'text',
      environment: 'text',
      label: 'text',
      scopes: 'text',
      created_at: 'integer',
      expires_at: 'integer',
      revoked_at: 'integer',
      last_used_at: 'integer',
    },
    assignsIds: true,
  },
  {
    name: 'pets',
    key: ['id'],
    columns: { id: 'integer', name: 'text', category_id: 'integer', status: 'text' },
    assignsIds: true,
  },
  {
    name: 'idempotency',
    key: ['account_id', 'key'],
    columns: {
      account_id: 'integer',
      key: 'text',
      fingerprint: 'text',
      pet_id: 'integer',
      created_at: 'integer',
    },
    assignsIds: false,
  },
  {
    name: 'usage',
    key: ['environment', 'caller'],
    columns: {
      environment: 'text',
      caller: 'text',
      minute_start: 'integer',
      minute_count: 'integer',
      day: 'integer',
      day_count: 'integer',
    },
    assignsIds: false,
  },
  {
    name: 'standings',
    key: ['key_id'],
    columns: {
      key_id: 'integer',
      environment: 'text',
      refusals: 'text',
      banned_until: 'integer',
      ban_count: 'integer',
      lifted: 'integer',
    },
    assignsIds: false,
  },
];

/** The table of this name. @throws when there is none. */
export function tableOf(name: string): Table {
  const table = TABLES.find((each) => each.name === name);
  if (table === undefined) throw new Error(`There is no table ${name}.`);
  return table;
}
