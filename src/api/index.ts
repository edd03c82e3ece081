// Contract: section 1.1.
import type { Operation, Resource } from './operation.ts';
import * as resources from './resources.ts';

/** The contract names this group and defines no operation of it. */
const STORE: Resource<unknown> = {
  name: 'Store',
  description: 'Orders. No operation of this group is specified yet.',
  schemas: [],
  operations: [],
};

type StoresOf<Each> = Each extends Resource<infer Needs> ? (stores: Needs) => void : never;

/** The stores that all operations use together. */
export type Stores =
  StoresOf<(typeof resources)[keyof typeof resources]> extends (stores: infer All) => void ? All : never;

/** Everything that can be asked. Routes, CORS, the description, the reference and the client follow from this list. */
export const RESOURCES: readonly Resource<Stores>[] = [...Object.values(resources), STORE];

export const OPERATIONS: readonly Operation<Stores>[] = RESOURCES.flatMap(({ operations }) => operations);
