// Contract: sections 1.1 and 10.2.
import { CLIENT_ACCOUNT, OPERATOR_ACCOUNTS } from './accounts/operations.ts';
import { OPERATOR_KEYS, CLIENT_KEYS } from './keys/operations.ts';
import { CLIENT_EVENTS } from './events/operations.ts';
import { CLIENT_CATEGORIES, OPERATOR_CATEGORIES } from './categories/operations.ts';
import { CLIENT_WEBHOOKS, OPERATOR_WEBHOOKS } from './webhooks/operations.ts';
import { CLIENT_ORDERS, OPERATOR_ORDERS } from './orders/operations.ts';
import { CLIENT_PETS, OPERATOR_PETS } from './pets/operations.ts';
import { OPERATOR_BANS } from './bans/operations.ts';
import type { ClientOperation, Operation, OperationGroup, OperatorOperation } from '../http/operation.ts';
import { OPERATOR_AUDIT } from './audit/operations.ts';
import { OPERATOR_DEPRECATIONS } from './deprecations/operations.ts';
import type { DeprecatedOperation } from './deprecations/uses.ts';
import { OPERATOR_USAGE } from './usage/operations.ts';
import { OPERATOR_FAILED_REQUESTS } from './failed-requests/operations.ts';
import { OPERATOR_ME, OPERATOR_OPERATORS } from './operators/operations.ts';
import { OPERATOR_PASSKEYS } from './passkeys/operations.ts';
import { OVERVIEW } from './overview/operations.ts';

/*
 * Everything that can be asked for. Routes, CORS, the descriptions, the reference and the client follow from these two lists, in
 * their order. Resources of which every operation is beta come last, because most readers and requests want the others.
 */

const FOR_CLIENTS = [
  CLIENT_PETS,
  CLIENT_ACCOUNT,
  CLIENT_CATEGORIES,
  CLIENT_EVENTS,
  CLIENT_KEYS,
  CLIENT_ORDERS,
  CLIENT_WEBHOOKS,
];

const FOR_OPERATORS = [
  OPERATOR_ACCOUNTS,
  OPERATOR_AUDIT,
  OPERATOR_BANS,
  OPERATOR_CATEGORIES,
  OPERATOR_DEPRECATIONS,
  OPERATOR_FAILED_REQUESTS,
  OPERATOR_KEYS,
  OPERATOR_ME,
  OPERATOR_OPERATORS,
  OPERATOR_ORDERS,
  OVERVIEW,
  OPERATOR_PASSKEYS,
  OPERATOR_PETS,
  OPERATOR_USAGE,
  OPERATOR_WEBHOOKS,
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
