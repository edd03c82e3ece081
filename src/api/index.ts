// Contract: section 1.1.
import type { ClientOperation, Resource } from '../http/operation.ts';
import * as resources from './resources.ts';

type StoresOf<Each> = Each extends Resource<infer Needs> ? (stores: Needs) => void : never;

/** The stores that all operations use together. */
export type Stores =
  StoresOf<(typeof resources)[keyof typeof resources]> extends (stores: infer All) => void ? All : never;

/**
 * Everything that can be asked. Routes, CORS, the description, the reference and the client follow from this list. Resources
 * of which every operation is beta or experimental come last, because most readers and requests want the others.
 */
export const RESOURCES: readonly Resource<Stores>[] = Object.values(resources).toSorted(
  (one, other) => Number(isUnstable(one)) - Number(isUnstable(other)),
);

function isUnstable({ operations }: Resource<Stores>): boolean {
  return operations.every(({ stability }) => stability !== undefined);
}

export const OPERATIONS: readonly ClientOperation<Stores>[] = RESOURCES.flatMap(
  ({ operations }) => operations,
);
