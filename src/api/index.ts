// Contract: section 1.1.
import type { Operation, Resource } from './operation.ts';
import * as resources from './resources.ts';

type StoresOf<Each> = Each extends Resource<infer Needs> ? (stores: Needs) => void : never;

/** The stores that all operations use together. */
export type Stores =
  StoresOf<(typeof resources)[keyof typeof resources]> extends (stores: infer All) => void ? All : never;

/** Everything that can be asked. Routes, CORS, the description, the reference and the client follow from this list. */
export const RESOURCES: readonly Resource<Stores>[] = Object.values(resources);

export const OPERATIONS: readonly Operation<Stores>[] = RESOURCES.flatMap(({ operations }) => operations);
