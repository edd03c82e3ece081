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

/** Query parameters of `listPets`. */
export interface ListPetsQuery {
  /** Maximum number of animals to return. */
  readonly limit?: number | undefined;
  /** Keep only animals with this status. */
  readonly status?: PetStatus | undefined;
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
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_key_reused'
  | 'rate_limit_exceeded'
  | 'daily_limit_exceeded'
  | 'key_banned'
  | 'internal_error'
  | 'unavailable';
