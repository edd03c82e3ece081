export type { Deprecation } from './deprecation.ts';
export { ApiError, ConnectionError, PetStoreError, RateLimitError, TimeoutError } from './errors.ts';
export type { PetStoreOptions } from './options.ts';
export type { PetList, PetPage } from './pet-list.ts';
export type { CallOptions, CreateOptions, Pets } from './pets.ts';
export { PetStore } from './petstore.ts';
export type { RateLimit } from './rate-limit.ts';
export type { ErrorCode, Int64, ListPetsQuery, NewPet, Pet, PetStatus } from './schema.ts';
