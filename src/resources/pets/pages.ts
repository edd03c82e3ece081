import { foldedName } from '../../domain/text.ts';
import type { Value } from '../../storage/sql.ts';
import { HOUSE, type PetQuery } from './table.ts';

/** An index, and its values besides the largest id. */
interface Choice<Kind> {
  readonly kind: Kind;
  readonly values: readonly Value[];
}

/** What a round looks at. */
export type RoundKind = 'ofOwner' | 'ofOwnerAndStatus' | 'ofName';

/** The pages that there are. Each engine has a statement for each, whose first parameter is the largest id. */
export type PageKind =
  | RoundKind
  | 'all'
  | 'ofStatus'
  | 'ofCategory'
  | 'ofCategoryAndStatus'
  | 'ofIds'
  | 'ofReference';

/** Of a query with a name or an owner. */
export function chooseRound({ accountId = HOUSE, status, name }: PetQuery): Choice<RoundKind> {
  if (name !== undefined) return { kind: 'ofName', values: [foldedName(name)] };
  return status === undefined
    ? { kind: 'ofOwner', values: [accountId] }
    : { kind: 'ofOwnerAndStatus', values: [accountId, status] };
}

/** `writeIds` makes a list of ids a parameter. */
export function choosePage(
  query: PetQuery,
  writeIds: (ids: ReadonlySet<bigint>) => string,
): Choice<PageKind> {
  const { status, categoryId, accountId, id: ids, name, reference } = query;
  if (ids !== undefined || reference !== undefined) {
    const folded = name === undefined ? null : foldedName(name);
    const filters = [status ?? null, categoryId ?? null, accountId ?? null, folded];
    return ids === undefined
      ? { kind: 'ofReference', values: [reference ?? null, ...filters] }
      : { kind: 'ofIds', values: [writeIds(new Set(ids)), ...filters, reference ?? null] };
  }
  if (name !== undefined || accountId !== undefined) return chooseRound(query);
  if (categoryId === undefined)
    return status === undefined ? { kind: 'all', values: [] } : { kind: 'ofStatus', values: [status] };
  return status === undefined
    ? { kind: 'ofCategory', values: [categoryId] }
    : { kind: 'ofCategoryAndStatus', values: [categoryId, status] };
}
