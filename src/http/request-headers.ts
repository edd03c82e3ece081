// Contract: sections 3.4, 3.6 and 3.8.
import { hash } from 'node:crypto';
import { ServiceError } from '../domain/errors.ts';
import type { IdempotencyKeyHash } from '../domain/idempotency.ts';

/** What a client may send as `X-Request-Id`. */
export const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

/** The headers that requests may carry besides key and body, as the description and CORS name them. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description: 'Makes it safe to send the request again: 1 to 255 visible ASCII characters.',
    pattern: IDEMPOTENCY_KEY.source,
    maxLength: 255,
    example: '5b1f0a6e-3c9d-4c57-8d0e-9a2f6b7c1d34',
  },
  'If-Match': {
    description:
      'The `ETag` of the content that the request changes: if the content has changed since, the answer is 412.',
    pattern: '^(?:\\*|(?:W/)?"[^"]*"(?: *, *(?:W/)?"[^"]*")*)$',
    maxLength: 8_192,
    example: '"1ae3uxfKd2MgYtMpiLIGGzi5rZ8"',
  },
  'If-None-Match': {
    description: 'The `ETag` of content that the client already has: if it still holds, the answer is 304.',
    pattern: '^(?:\\*|(?:W/)?"[^"]*"(?: *, *(?:W/)?"[^"]*")*)$',
    maxLength: 8_192,
    example: '"1ae3uxfKd2MgYtMpiLIGGzi5rZ8"',
  },
  'X-Request-Id': {
    description:
      "Identifies the request in the service's logs and in the response; another value is replaced.",
    pattern: REQUEST_ID.source,
    maxLength: 128,
    example: 'checkout-7f3a',
  },
} as const;

/**
 * The hash of the `Idempotency-Key` header of an operation. The value itself goes no further than this function. A key
 * belongs to one operation, so its id is hashed too. Records of 1.0.0 have no id: it only knew createPet.
 * @throws ServiceError `invalid_parameter` unless it has 1 to 255 visible ASCII characters.
 */
export function parseIdempotencyKey(value: string, operationId = 'createPet'): IdempotencyKeyHash {
  const prefix = operationId === 'createPet' ? '' : `${operationId} `;
  if (IDEMPOTENCY_KEY.test(value)) return `sha256 ${hash('sha256', prefix + value, 'hex')}`;
  throw new ServiceError(
    'invalid_parameter',
    'The Idempotency-Key header must have 1 to 255 visible ASCII characters.',
  );
}

/** The hash that tells requests with one idempotency key apart: by the values in their path, and by their body. */
export function fingerprintOf(inPath: readonly string[], body: Uint8Array): string {
  const content = inPath.length === 0 ? body : Buffer.concat([Buffer.from(JSON.stringify(inPath)), body]);
  return hash('sha256', content, 'base64url');
}
