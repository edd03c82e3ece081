// Contract: sections 1.1 and 10.2.
import type {
  ClientOperation,
  GroupPart,
  Operation,
  OperationGroup,
  OperatorOperation,
} from '../http/operation.ts';
import type { DeprecatedOperation } from './deprecations/uses.ts';
import { EVENT_KINDS } from './events/rules.ts';
import type { EventKinds } from './events/schema.ts';
import type { OperationsModule, Together } from './feature.ts';
import { FEATURES } from './index.ts';

/* Everything that can be asked for. Routes, CORS, the descriptions, the reference and the client follow from these two lists. */

type Modules = Awaited<
  ReturnType<Extract<(typeof FEATURES)[number], { readonly operations: unknown }>['operations']>
>;

/** What the operations of groups use together. */
type UsesOf<Groups> = Together<
  Groups extends (kinds: never) => GroupPart<Operation<infer Uses>, never>
    ? Uses
    : Groups extends GroupPart<Operation<infer Uses>, never>
      ? Uses
      : Groups extends readonly GroupPart<Operation<infer Uses>, never>[]
        ? Uses
        : never
>;

export type ClientUses = UsesOf<Extract<Modules, { readonly CLIENTS: unknown }>['CLIENTS']>;

export type OperatorUses = UsesOf<Extract<Modules, { readonly OPERATORS: unknown }>['OPERATORS']>;

const MODULES: readonly OperationsModule[] = await Promise.all(
  FEATURES.flatMap((each) => ('operations' in each ? [each.operations()] : [])),
);

/** A kind of event without a schema does not compile, nor does a schema without a type of event. */
const KINDS: EventKinds = Object.assign({}, ...MODULES.map(({ EVENTS: kinds }) => kinds)) as Together<
  Extract<Modules, { readonly EVENTS: unknown }>['EVENTS']
>;

/** All events, in the order of the types. */
export const EVENTS = Object.fromEntries(EVENT_KINDS.map((kind) => [kind, KINDS[kind]])) as EventKinds;

/** Makes one group of those with the same name, and tells each operation what it uses. By name. */
function joinGroups<Op extends Operation>(groups: readonly GroupPart<Op, never>[]): OperationGroup<Op>[] {
  const joined = Map.groupBy(groups, ({ name }) => name);
  return Array.from(joined, ([name, parts]) => ({
    name,
    description: parts.find(({ description }) => description !== undefined)?.description ?? name,
    operations: parts.flatMap(({ uses, operations }) =>
      operations.map((operation) => ({ ...operation, uses: Object.keys(uses) })),
    ),
  })).toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

const isStable = ({ operations }: OperationGroup<ClientOperation>) =>
  operations.some(({ stability }) => stability === undefined);

/** Resources of which every operation is beta come last, because most readers and requests want the others. */
export const RESOURCES = joinGroups(
  MODULES.flatMap(({ CLIENTS: groups = [] }) => (typeof groups === 'function' ? groups(EVENTS) : groups)),
).toSorted((one, other) => Number(isStable(other)) - Number(isStable(one))) as readonly OperationGroup<
  ClientOperation<ClientUses>
>[];

export const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);

export const OPERATOR_RESOURCES = joinGroups(
  MODULES.flatMap(({ OPERATORS: groups = [] }) => groups),
) as readonly OperationGroup<OperatorOperation<OperatorUses>>[];

export const OPERATOR_OPERATIONS = OPERATOR_RESOURCES.flatMap(({ operations }) => operations);

export const DEPRECATED_OPERATIONS: readonly DeprecatedOperation[] = OPERATIONS.flatMap(
  ({ id, method, path, deprecated }) =>
    deprecated === undefined ? [] : [{ operation: id, method, path, ...deprecated }],
);
