// Contract: section 3.
import { encodeCursor } from '../../domain/cursor.ts';
import { entityTag } from '../conditional.ts';
import { REQUEST_ID } from '../exchange.ts';
import { petJson } from '../../json.ts';
import { IDEMPOTENCY_KEY, LIMIT } from '../parameters.ts';
import { EXAMPLE_PET } from './examples.ts';
import { INT64, schemaRef } from './schemas.ts';
import type { Parameter, Ref } from './types.ts';

/** What a request may carry besides its body, as reusable components. */
export const PARAMETERS = {
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of animals to return.',
    schema: { type: 'integer', format: 'int32', ...LIMIT },
    example: LIMIT.default,
  },
  status: {
    name: 'status',
    in: 'query',
    description: 'Keep only animals with this status.',
    schema: schemaRef('PetStatus'),
    example: EXAMPLE_PET.status,
  },
  cursor: {
    name: 'cursor',
    in: 'query',
    description: 'Where the page begins. Opaque: follow the `Link` header of the page before.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$', maxLength: 64 },
    example: encodeCursor(EXAMPLE_PET.id),
  },
  petId: {
    name: 'petId',
    in: 'path',
    required: true,
    description: 'Identifier of the animal.',
    schema: INT64,
    example: Number(EXAMPLE_PET.id),
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes it safe to send the request again: 1 to 255 visible ASCII characters.',
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source, maxLength: 255 },
    example: '5b1f0a6e-3c9d-4c57-8d0e-9a2f6b7c1d34',
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of content that the client already has: if it still holds, the answer is 304.',
    schema: { type: 'string', pattern: '^(?:\\*|(?:W/)?"[^"]*"(?: *, *(?:W/)?"[^"]*")*)$', maxLength: 8_192 },
    example: entityTag(petJson(EXAMPLE_PET)),
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description:
      "Identifies the request in the service's logs and in the response; another value is replaced.",
    schema: { type: 'string', pattern: REQUEST_ID.source, maxLength: 128 },
    example: 'checkout-7f3a',
  },
} as const satisfies Record<string, Parameter>;

export function parameterRefs(...names: readonly (keyof typeof PARAMETERS)[]): Ref[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}
