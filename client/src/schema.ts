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

/** Status of an order. An order is open while it is pending. */
export type OrderStatus = 'pending' | 'complete' | 'cancelled' | 'expired';

/** An order of an animal. */
export interface NewOrder {
  /** Identifier of the animal. */
  readonly petId: Int64;
  /** Always 1. */
  readonly quantity?: 1 | undefined;
  /** When the animal shall be handed over. */
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
  /** When the animal shall be handed over, in UTC. */
  readonly shipDate?: string | undefined;
  readonly status: OrderStatus;
  /** Whether the status is `complete`. */
  readonly complete: boolean;
  /** When the order was made. */
  readonly createdAt: string;
  /** When a pending order expires. */
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

/** Query parameters of `listCategories`. */
export interface ListCategoriesQuery {
  /** Maximum number of categories to return. */
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
