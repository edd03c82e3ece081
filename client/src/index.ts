export type { ApiPromise, ApiResponse, WithResponse } from './api-promise.ts';
export type { CallOptions, ChangeOptions, CreateOptions } from './call-options.ts';
export type { Deprecation } from './deprecation.ts';
export {
  AbortError,
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CursorExpiredError,
  NotFoundError,
  PermissionError,
  PetStoreError,
  PreconditionFailedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
} from './errors.ts';
export type { LogDetails, Logger } from './logger.ts';
export type { PetStoreOptions } from './options.ts';
export { PetStore } from './petstore.ts';
export { type TestEvent, verifyWebhook, WebhookError } from './verify-webhook.ts';
export type { RateLimit, RateLimitWindow } from './rate-limit.ts';
export type * from './resources.ts';
export type * from './schema.ts';
