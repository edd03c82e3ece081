export type { CallOptions, CreateOptions } from './call-options.ts';
export type { Deprecation } from './deprecation.ts';
export { ApiError, ConnectionError, PetStoreError, RateLimitError, TimeoutError } from './errors.ts';
export type { PetStoreOptions } from './options.ts';
export { PetStore } from './petstore.ts';
export type { RateLimit } from './rate-limit.ts';
export type * from './resources.ts';
export type * from './schema.ts';
