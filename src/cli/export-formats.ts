// Contract: section 8.
import type { Category } from '../resources/categories/schema.ts';
import type { AccountOrder } from '../resources/orders/repository.ts';
import { ORDER_STATUSES } from '../resources/orders/rules.ts';
import { FIELD_NAMES, type FieldName, PET_STATUSES } from '../resources/pets/rules.ts';
import type { Pet } from '../resources/pets/schema.ts';
import { petJson } from '../resources/pets/table.ts';
import { listCell, quoted, quotedCell } from '../domain/csv.ts';
import { toJson } from '../domain/json.ts';
import type { Store } from '../resources/repositories.ts';
import { printable } from '../terminal/printable.ts';

/** Characters of one write. A write for each item would take longer. */
const PIECE_LENGTH = 64 * 1024;

/** Only items with these values are exported. */
export interface ExportFilters {
  readonly status?: string | undefined;
  readonly category?: bigint | undefined;
  /** The exact name. */
  readonly account?: string | undefined;
}

export type FilterName = keyof ExportFilters;

/** What can be exported: its items, oldest first, as of one instant, and each of them as text. */
interface Kind<T> {
  readonly readAll: (store: Store) => AsyncIterable<T>;
  readonly json: (item: T) => string;
  /** The header line of CSV. */
  readonly columns: string;
  readonly csv: (item: T) => string;
  /** The values of an item that filters compare. */
  readonly filters: { readonly [Name in FilterName]?: (item: T) => ExportFilters[Name] };
  readonly statuses?: readonly string[];
}

interface Format<T> {
  readonly header: string;
  readonly line: (item: T) => string;
  readonly separator: string;
  readonly end: string;
}

export const FORMAT_NAMES = ['ndjson', 'csv'] as const;

/** `array` is one JSON value. */
type FormatName = (typeof FORMAT_NAMES)[number] | 'array';

function formatOf<T>({ json, columns, csv }: Kind<T>, name: FormatName): Format<T> {
  if (name === 'ndjson') return { header: '', line: (item) => `${json(item)}\n`, separator: '', end: '' };
  if (name === 'csv')
    return { header: `${columns}\n`, line: (item) => `${csv(item)}\n`, separator: '', end: '' };
  return { header: '[', line: (item) => printable(json(item)), separator: ',', end: ']\n' };
}

interface Export {
  /** The text of the items of a store that fit all filters, in pieces. */
  readonly write: (store: Store, format: FormatName, filters: ExportFilters) => AsyncIterable<string>;
  /** The filters that it has. */
  readonly filters: readonly string[];
  readonly statuses: readonly string[];
}

function exportOf<T>(kind: Kind<T>): Export {
  return {
    write: (store, format, filters) => piecesOf(selectItems(kind, store, filters), formatOf(kind, format)),
    filters: Object.keys(kind.filters),
    statuses: kind.statuses ?? [],
  };
}

async function* selectItems<T>(kind: Kind<T>, store: Store, wanted: ExportFilters): AsyncGenerator<T> {
  const names = (Object.keys(wanted) as FilterName[]).filter((name) => wanted[name] !== undefined);
  for await (const item of kind.readAll(store))
    if (names.every((name) => kind.filters[name]?.(item) === wanted[name])) yield item;
}

async function* piecesOf<T>(
  items: AsyncIterable<T>,
  { header, line, separator, end }: Format<T>,
): AsyncGenerator<string> {
  let piece = header;
  let before = '';
  for await (const item of items) {
    piece += before + line(item);
    before = separator;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece + end;
}

/** Unlike a spreadsheet, an import reads every text as it is, so formulas stay as they are. */
function petCell(pet: Pet, field: FieldName): string {
  if (field === 'photoUrls') return quoted(pet.photoUrls?.join(' '));
  if (field === 'tags') return quoted(pet.tags && listCell(pet.tags));
  const { [field]: value } = pet;
  return typeof value === 'bigint' || BARE.has(field) ? String(value ?? '') : quoted(value);
}

/** Fields whose texts never need quotes. */
const BARE: ReadonlySet<FieldName> = new Set(['status', 'sex', 'size', 'birthDate']);

/** By the value of `--what`. In CSV, an absent text is empty, and an empty text is a pair of quotes. */
export const EXPORTS = {
  pets: exportOf<Pet>({
    readAll: ({ pets }) => pets.readAll(),
    json: petJson,
    columns: ['id', ...FIELD_NAMES].join(','),
    csv: (pet) => [pet.id, ...FIELD_NAMES.map((field) => petCell(pet, field))].join(','),
    filters: { status: ({ status }) => status, category: ({ categoryId }) => categoryId },
    statuses: PET_STATUSES,
  }),
  categories: exportOf<Category>({
    readAll: ({ categories }) => categories.readAll(),
    json: toJson,
    columns: 'id,name,description',
    csv: ({ id, name, description }) => `${id},${quotedCell(name)},${quotedCell(description)}`,
    filters: {},
  }),
  orders: exportOf<AccountOrder>({
    readAll: ({ orders }) => orders.readAll(),
    json: toJson,
    columns: 'id,account,petId,quantity,shipDate,status,createdAt,expiresAt',
    csv: ({ id, account, petId, quantity, shipDate, status, createdAt, expiresAt }) =>
      `${id},${quotedCell(account)},${petId},${quantity},${shipDate ?? ''},${status},${createdAt},${expiresAt}`,
    filters: { status: ({ status }) => status, account: ({ account }) => account },
    statuses: ORDER_STATUSES,
  }),
} satisfies Record<string, Export>;
