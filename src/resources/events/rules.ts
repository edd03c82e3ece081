// Contract: section 13.
import type { Environment } from '../../domain/api-key.ts';
import type { Scope } from '../../domain/scope.ts';

export interface EventDeclaration {
  /** The scope that a key needs besides, to see events of this type. */
  readonly scope?: Scope;
  /** Whose its events are: of the catalogue, of an account, or of an account in one environment. */
  readonly owner: 'catalogue' | 'account' | 'environment';
}

/** Every type of event. In the order of the reference. */
export const EVENT_TYPES = {
  'pet.created': { scope: 'pets:read', owner: 'catalogue' },
  'pet.updated': { scope: 'pets:read', owner: 'catalogue' },
  'pet.deleted': { scope: 'pets:read', owner: 'catalogue' },
  'category.created': { scope: 'pets:read', owner: 'catalogue' },
  'category.updated': { scope: 'pets:read', owner: 'catalogue' },
  'category.deleted': { scope: 'pets:read', owner: 'catalogue' },
  'order.created': { scope: 'store:read', owner: 'account' },
  'order.completed': { scope: 'store:read', owner: 'account' },
  'order.cancelled': { scope: 'store:read', owner: 'account' },
  'order.expired': { scope: 'store:read', owner: 'account' },
  'limit.warning': { owner: 'environment' },
  'limit.reached': { owner: 'environment' },
  'key.created': { scope: 'keys:manage', owner: 'environment' },
  'key.rotated': { scope: 'keys:manage', owner: 'environment' },
  'key.revoked': { scope: 'keys:manage', owner: 'environment' },
  'key.banned': { scope: 'keys:manage', owner: 'environment' },
  'key.expiring': { scope: 'keys:manage', owner: 'environment' },
  'webhook.disabled': { scope: 'webhooks:manage', owner: 'environment' },
} as const satisfies Readonly<Record<string, EventDeclaration>>;

export type EventType = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as readonly EventType[];

/** What events are about: the first word of their types. */
export type EventKind = EventType extends `${infer Kind}.${string}` ? Kind : never;

export const readKind = (type: EventType) => type.split('.')[0] as EventKind;

export const EVENT_KINDS: readonly EventKind[] = [...new Set(EVENT_TYPE_NAMES.map(readKind))];

/** A filter: a type, all types of a kind of thing, or all types. */
export type TypeFilter = EventType | `${string}.*` | '*';

/** The most filters of a request or a webhook. */
export const MOST_TYPES = 20;

/** Every filter that there is. */
export const TYPE_FILTERS: readonly TypeFilter[] = [
  '*',
  ...EVENT_KINDS.map((kind) => `${kind}.*` as const),
  ...EVENT_TYPE_NAMES,
];

/** The events of one type that belong to one owner, in the order of the feed. */
export interface Stream {
  /** 0 for the catalogue. */
  readonly accountId: number;
  /** Empty for events that belong to no environment. */
  readonly environment: Environment | '';
  readonly type: EventType;
}

/** The same as the database holds it: a later version has other types, which belong to no stream here. */
export interface StoredStream extends Omit<Stream, 'type'> {
  readonly type: string;
}

/** Who reads events. */
export interface Viewer {
  readonly accountId: number;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
}

/** The stream that an event of this type belongs to. */
export function findStream(
  type: EventType,
  { accountId, environment }: Pick<Viewer, 'accountId' | 'environment'>,
): Stream {
  const { owner } = EVENT_TYPES[type];
  return {
    accountId: owner === 'catalogue' ? 0 : accountId,
    environment: owner === 'environment' ? environment : '',
    type,
  };
}

/** The streams that a viewer may see, of types that a filter chooses. Without filters, all that it may see. */
export function visibleStreams(viewer: Viewer, filters: readonly TypeFilter[] = ['*']): readonly Stream[] {
  return chooseTypes(filters)
    .filter((type) => {
      const { scope }: EventDeclaration = EVENT_TYPES[type];
      return scope === undefined || viewer.scopes.includes(scope);
    })
    .map((type) => findStream(type, viewer));
}

/** The types that a filter chooses. */
export function chooseTypes(filters: readonly TypeFilter[]): readonly EventType[] {
  return EVENT_TYPE_NAMES.filter((type) => matchesAny(type, filters));
}

function matchesAny(type: EventType, filters: readonly TypeFilter[]): boolean {
  const group = `${readKind(type)}.*`;
  return filters.some((filter) => filter === '*' || filter === type || filter === group);
}

/** Whether an event belongs to one of these streams. */
export function isOfStreams(event: StoredStream, streams: readonly Stream[]): boolean {
  return streams.some(
    ({ accountId, environment, type }) =>
      event.type === type && event.accountId === accountId && event.environment === environment,
  );
}
