// Contract: section 10.2.
import type { OperatorOperation, OperatorResource } from '../http/operation.ts';
import * as resources from './resources.ts';

type StoresOf<Each> = Each extends OperatorResource<infer Needs> ? (stores: Needs) => void : never;

/** The stores that all operations of the admin API use together. */
export type AdminStores =
  StoresOf<(typeof resources)[keyof typeof resources]> extends (stores: infer All) => void ? All : never;

export const ADMIN_RESOURCES: readonly OperatorResource<AdminStores>[] = Object.values(resources);

export const ADMIN_OPERATIONS: readonly OperatorOperation<AdminStores>[] = ADMIN_RESOURCES.flatMap(
  ({ operations }) => operations,
);
