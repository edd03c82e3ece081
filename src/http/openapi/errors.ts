// Contract: section 4.
import { type ErrorCode, PetStoreError } from '../../domain/errors.ts';
import { parseNewPet } from '../../domain/pet.ts';
import { PLANS } from '../../domain/plan.ts';
import { BODY_LIMIT } from '../body.ts';
import { errorJson } from '../errors.ts';
import {
  banned,
  bodyTooLarge,
  internalError,
  KEY_IN_FLIGHT,
  KEY_MISSING,
  KEY_REUSED,
  lacksScope,
  limitUsedUp,
  NO_SUCH_PET,
  NOT_JSON,
  otherMethod,
  REMOVED,
  SHUTTING_DOWN,
} from '../messages.ts';
import { LIMIT, parsePetQuery } from '../parameters.ts';

interface ErrorText {
  /** When it is the answer, as a sentence. */
  readonly when: string;
  /** A message as the API gives it. */
  readonly message: string;
}

/** What the description says about each error code. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorText>> = {
  invalid_request: {
    when: 'The body is missing, is not JSON or has missing or invalid fields; or the request is not valid HTTP.',
    message: messageOf(() => parseNewPet({ name: 'Rex' })),
  },
  invalid_parameter: {
    when: 'A query parameter or a header has an invalid value or is repeated.',
    message: messageOf(() => parsePetQuery(`limit=${LIMIT.maximum + 1}`)),
  },
  unauthorized: {
    when: 'The API key is missing, malformed, unknown, expired, revoked or of the other environment.',
    message: KEY_MISSING,
  },
  insufficient_scope: {
    when: "The API key lacks the operation's scope.",
    message: lacksScope('pets:write'),
  },
  not_found: {
    when: 'There is no such animal, or no such path.',
    message: NO_SUCH_PET,
  },
  method_not_allowed: {
    when: 'The path exists but does not take this method; the `Allow` header lists those it takes.',
    message: otherMethod('GET, HEAD, POST, OPTIONS'),
  },
  conflict: {
    when: 'The first request with this `Idempotency-Key` is still in flight.',
    message: KEY_IN_FLIGHT,
  },
  gone: {
    when: 'The operation has been removed.',
    message: REMOVED,
  },
  payload_too_large: {
    when: `The body is larger than ${BODY_LIMIT / 1024} KiB.`,
    message: bodyTooLarge(BODY_LIMIT),
  },
  unsupported_media_type: {
    when: 'The body is not `application/json`.',
    message: NOT_JSON,
  },
  idempotency_key_reused: {
    when: 'The `Idempotency-Key` was used with another body.',
    message: KEY_REUSED,
  },
  rate_limit_exceeded: {
    when: 'The requests of this minute are used up.',
    message: limitUsedUp(PLANS.free.perMinute, 'minute', '17'),
  },
  daily_limit_exceeded: {
    when: 'The requests of this UTC day are used up.',
    message: limitUsedUp(PLANS.free.perDay, 'day', '3600'),
  },
  key_banned: {
    when: 'The API key is banned for a while because it kept sending requests after being refused.',
    message: banned('300'),
  },
  internal_error: {
    when: 'A fault of the service; report it with the `X-Request-Id` of the response.',
    message: internalError('q3Zt8_fW1xKc-Y0nRb7u'),
  },
  unavailable: {
    when: 'The service cannot answer right now; try again after the time in `Retry-After`.',
    message: SHUTTING_DOWN,
  },
};

/** The Error body for an example. */
export function errorExample(code: ErrorCode, message: string, status?: number): unknown {
  return JSON.parse(errorJson(code, message, status));
}

/** The message with which a rule refuses: the real one, so that the example cannot drift from it. */
export function messageOf(refuse: () => unknown): string {
  try {
    refuse();
  } catch (error) {
    if (error instanceof PetStoreError) return error.message;
    throw error;
  }
  throw new Error('An example of a refusal was not refused.');
}
