// Contract: section 2.
import * as parts from './parts.ts';
import { ACCOUNTS, IDEMPOTENCY, KEYS, PETS, type Table } from './tables.ts';

/**
 * Every table that holds data. A copy fills them in this order, so no row may refer to a table that comes later. A test
 * compares them with the migrations of both databases.
 */
export const TABLES: readonly Table[] = [
  ACCOUNTS,
  KEYS,
  PETS,
  IDEMPOTENCY,
  ...Object.values(parts).flatMap((part): readonly Table[] => part.TABLES),
];
