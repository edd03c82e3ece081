// Made from the description of the service by `npm run openapi`.
/** An integer of 64 bits: a number up to ±(2^53 − 1), and a bigint beyond, so that it is never rounded. */
export type Int64 = number | bigint;

/** Availability status of an animal. */
export type PetStatus = 'available' | 'pending' | 'sold';

/** An animal to add. */
export interface NewPet {
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
}

/** A change of an animal. `null` removes the status. */
export interface PetPatch {
  /** The animal's name. */
  readonly name?: string | undefined;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId?: Int64 | undefined;
  readonly status?: PetStatus | null | undefined;
}

/** An animal of the catalogue. */
export interface Pet {
  /** The animal's name. */
  readonly name: string;
  /** Identifier of the category the animal belongs to. */
  readonly categoryId: Int64;
  readonly status?: PetStatus | undefined;
  /** Unique identifier assigned by the service on creation. */
  readonly id: Int64;
}

/** The requests that an account may make. */
export interface AccountLimits {
  /** Requests per minute. */
  readonly perMinute: number;
  /** Requests per UTC day. */
  readonly perDay: number;
}

/** A window of the limits, as it is now. */
export interface AccountWindow {
  /** Requests that the window has. */
  readonly limit: number;
  /** Requests that remain. */
  readonly remaining: number;
  /** When the window ends: a Unix timestamp in seconds, rounded up. */
  readonly reset: Int64;
}

/** A ban in force. */
export interface KeyBan {
  /** Identifier of the key. */
  readonly keyId: Int64;
  /** When the ban ends. */
  readonly until: string;
  /** How many bans the key had in a row, this one included. */
  readonly count: number;
}

/** An account as its keys see it. */
export interface OwnAccount {
  /** The name of the account. */
  readonly name: string;
  /** The plan of the account. */
  readonly plan: 'free' | 'pro' | 'business' | 'enterprise';
  readonly limits: AccountLimits;
  /** What the calling key may do. */
  readonly scopes: readonly Scope[];
  readonly minute: AccountWindow;
  readonly day: AccountWindow;
  /** The bans in force of keys of this environment. */
  readonly bans: readonly KeyBan[];
}

/** Length of the intervals of a usage history, in UTC. */
export type UsageInterval = 'hour' | 'day';

/** What the rows of a usage history tell apart besides intervals. */
export type UsageBy = 'operation' | 'key';

/** The requests of one interval, operation and key, by their outcomes. See `by` for rows that add up keys or operations. */
export interface Usage {
  /** When the interval begins. */
  readonly start: string;
  /** The operation; `other` for requests that match none. Absent if `by` is `key`. */
  readonly operation?: string | undefined;
  /** Identifier of the key. Absent if `by` is `operation`. */
  readonly keyId?: Int64 | undefined;
  /** Requests that were answered with 2xx or 3xx. */
  readonly ok: number;
  /** Requests that were answered with 4xx, but not 429. */
  readonly clientError: number;
  /** Requests that were answered with 429. */
  readonly refused: number;
  /** Requests that were answered with 5xx. */
  readonly serverError: number;
}

/** A category to add. */
export interface NewCategory {
  /** The name of the category. No other category has it, ignoring case. */
  readonly name: string;
  /** What belongs to the category. */
  readonly description?: string | undefined;
}

/** A change of a category. `null` removes the description. */
export interface CategoryPatch {
  /** The name of the category. No other category has it, ignoring case. */
  readonly name?: string | undefined;
  /** What belongs to the category. */
  readonly description?: string | null | undefined;
}

/** A category of animals. */
export interface Category {
  /** The name of the category. No other category has it, ignoring case. */
  readonly name: string;
  /** What belongs to the category. */
  readonly description?: string | undefined;
  /** Unique identifier assigned by the service on creation. */
  readonly id: Int64;
}

/** What a key may do. */
export type Scope = 'pets:read' | 'pets:write' | 'store:read' | 'store:write' | 'keys:manage';

/** State of a key. A key works while it is `active`, and while it is `rotated`: another key has replaced it, and it ends soon. */
export type KeyState = 'active' | 'rotated' | 'expired' | 'revoked';

/** A key to create. */
export interface NewKey {
  /** A note to recognize the key by. It must not hold an API key. */
  readonly label?: string | undefined;
  /** What the key may do, at most what the calling key may do. By default everything except `keys:manage`. */
  readonly scopes?: readonly Scope[] | undefined;
  /** When the key ends. By default it does not. */
  readonly expiresAt?: string | undefined;
}

/** How a key is rotated. */
export interface Rotation {
  /** Seconds that the old key still works. It never works past its own expiry. */
  readonly grace?: number | undefined;
}

/** A key of an account, without the key itself. */
export interface Key {
  /** Unique identifier assigned by the service. */
  readonly id: Int64;
  /** A note to recognize the key by. */
  readonly label?: string | undefined;
  /** The environment that the key belongs to: that of the service. */
  readonly environment: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  readonly state: KeyState;
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key ends, or ended. */
  readonly expiresAt?: string | undefined;
  /** When the key was last used, up to a minute late. */
  readonly lastUsedAt?: string | undefined;
  /** The last four characters of the key, to find it by. */
  readonly ending?: string | undefined;
}

/** A key that was just created. */
export interface IssuedKey {
  /** Unique identifier assigned by the service. */
  readonly id: Int64;
  /** A note to recognize the key by. */
  readonly label?: string | undefined;
  /** The environment that the key belongs to: that of the service. */
  readonly environment: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  readonly state: KeyState;
  /** When the key was created. */
  readonly createdAt: string;
  /** When the key ends, or ended. */
  readonly expiresAt?: string | undefined;
  /** When the key was last used, up to a minute late. */
  readonly lastUsedAt?: string | undefined;
  /** The last four characters of the key, to find it by. */
  readonly ending?: string | undefined;
  /** The key itself. It is shown only in this answer: store it now. */
  readonly key: string;
}

/** Status of an order. An order is open while it is pending. */
export type OrderStatus = 'pending' | 'complete' | 'cancelled' | 'expired';

/** An order of an animal. */
export interface NewOrder {
  /** Identifier of the animal. */
  readonly petId: Int64;
  /** Always 1. */
  readonly quantity?: 1 | undefined;
  /** When the animal is to be handed over. */
  readonly shipDate?: string | undefined;
}

/** An order of an account. */
export interface Order {
  /** Unique identifier assigned by the service on creation. */
  readonly id: Int64;
  /** Identifier of the animal. */
  readonly petId: Int64;
  /** Always 1. */
  readonly quantity: 1;
  /** When the animal is to be handed over, in UTC. */
  readonly shipDate?: string | undefined;
  readonly status: OrderStatus;
  /** Whether the status is `complete`. */
  readonly complete: boolean;
  /** When the order was made. */
  readonly createdAt: string;
  /** When the order expires if it is still open. */
  readonly expiresAt: string;
}

/** Query parameters of `listPets`. */
export interface ListPetsQuery {
  /** Maximum number of animals to return. */
  readonly limit?: number | undefined;
  /** Keep only animals with this status. */
  readonly status?: PetStatus | undefined;
  /** Keep only animals of this category. */
  readonly categoryId?: Int64 | undefined;
  /** Keep only these animals: repeat the parameter for up to 100 of them. */
  readonly id?: readonly Int64[] | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `getUsage`. */
export interface GetUsageQuery {
  /** Keep only intervals that begin at this instant or later. By default the 30 UTC days that end with the day of `to`, or 24 hours if `interval` is `hour`. A range by the hour has at most 31 days. */
  readonly from?: string | undefined;
  /** Keep only intervals that begin before this instant. By default now. */
  readonly to?: string | undefined;
  /** How long an interval is. By default a day. */
  readonly interval?: UsageInterval | undefined;
  /** `operation` adds up the keys: rows have no `keyId`. `key` adds up the operations: rows have no `operation`. By default nothing is added up. */
  readonly by?: UsageBy | undefined;
  /** Maximum number of rows to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listCategories`. */
export interface ListCategoriesQuery {
  /** Maximum number of categories to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listKeys`. */
export interface ListKeysQuery {
  /** Maximum number of keys to return. */
  readonly limit?: number | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Query parameters of `listOrders`. */
export interface ListOrdersQuery {
  /** Maximum number of orders to return. */
  readonly limit?: number | undefined;
  /** Keep only orders with this status. */
  readonly status?: OrderStatus | undefined;
  /** Keep only orders of this animal. */
  readonly petId?: Int64 | undefined;
  /** Where the page begins. Opaque: follow the `Link` header of the page before. */
  readonly cursor?: string | undefined;
}

/** Machine-readable error code. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_parameter'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'gone'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limit_exceeded'
  | 'daily_limit_exceeded'
  | 'key_banned'
  | 'internal_error'
  | 'unavailable';
