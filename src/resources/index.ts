// Contract: sections 1.1 and 10.2.
import { ACCOUNT_RESOURCE, ACCOUNTS } from './accounts/operations.ts';
import { KEYS, KEYS_RESOURCE } from './keys/operations.ts';
import { CATEGORIES_RESOURCE } from './categories/operations.ts';
import { ORDERS_RESOURCE } from './orders/operations.ts';
import { PETS_RESOURCE } from './pets/operations.ts';
import { BANS } from './bans/operations.ts';
import type { ClientOperation, Operation, OperationGroup, OperatorOperation } from '../http/operation.ts';
import { AUDIT } from './audit/operations.ts';
import { DEPRECATIONS } from './deprecations/operations.ts';
import type { DeprecatedOperation } from './deprecations/ranking.ts';
import { USAGE_RESOURCE } from './usage/operations.ts';
import { FAULTS } from './faults/operations.ts';
import { ME, OPERATORS } from './operators/operations.ts';
import { OVERVIEW } from './overview/operations.ts';

/*
 * Everything that can be asked for. Routes, CORS, the descriptions, the reference and the client follow from these two lists, in
 * their order. Resources of which every operation is beta come last, because most readers and requests want the others.
 */

const FOR_CLIENTS = [PETS_RESOURCE, ACCOUNT_RESOURCE, CATEGORIES_RESOURCE, KEYS_RESOURCE, ORDERS_RESOURCE];

const FOR_OPERATORS = [
  ACCOUNTS,
  AUDIT,
  BANS,
  DEPRECATIONS,
  FAULTS,
  KEYS,
  ME,
  OPERATORS,
  OVERVIEW,
  USAGE_RESOURCE,
];

/** The repositories that the operations of all these groups use together. */
type RepositoriesOf<Group> = (
  Group extends OperationGroup<Operation<infer Uses>>
    ? (repositories: Uses) => void
    : never
) extends (repositories: infer All) => void
  ? All
  : never;

export type Repositories = RepositoriesOf<(typeof FOR_CLIENTS)[number]>;

export type OperatorRepositories = RepositoriesOf<(typeof FOR_OPERATORS)[number]>;

export const RESOURCES: readonly OperationGroup<ClientOperation<Repositories>>[] = FOR_CLIENTS;

export const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);

export const OPERATOR_RESOURCES: readonly OperationGroup<OperatorOperation<OperatorRepositories>>[] =
  FOR_OPERATORS;

export const OPERATOR_OPERATIONS = OPERATOR_RESOURCES.flatMap(({ operations }) => operations);

export const DEPRECATED_OPERATIONS: readonly DeprecatedOperation[] = OPERATIONS.flatMap(
  ({ id, deprecated }) => (deprecated === undefined ? [] : [{ operation: id, ...deprecated }]),
);
