import {
  ApiError,
  AuthenticationError,
  ConflictError,
  CursorExpiredError,
  NotFoundError,
  PermissionError,
  PetStoreError,
  PreconditionFailedError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './errors.ts';
import type { Answer } from './exchange.ts';
import { parseJson } from './json.ts';
import { nextCursor } from './link.ts';
import type { RateLimit } from './rate-limit.ts';

/** By status and not by code, because the answer of a proxy has no code. */
const CLASS_OF: Readonly<Record<number, typeof ApiError>> = {
  400: ValidationError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  412: PreconditionFailedError,
  413: ValidationError,
  415: ValidationError,
  422: ValidationError,
  429: RateLimitError,
  431: ValidationError,
};

/** The error for an answer other than 2xx. */
export function toError(
  answer: Answer,
  retryAt: Date | undefined,
  rateLimit: RateLimit | undefined,
): PetStoreError {
  const { status, statusText, requestId } = answer;
  // Browsers hide a redirect that is not followed, and give it the status 0.
  if (status < 400) {
    const message = `The base address redirects (${status}): set baseUrl to where the service really is.`;
    return new PetStoreError(message, { status, requestId });
  }
  const { code, message } = errorBody(answer);
  const text = message ?? `The answer was ${status} ${statusText}`.trimEnd();
  if (code === 'cursor_expired')
    return new CursorExpiredError(text, {
      status,
      code,
      requestId,
      rateLimit,
      next: nextCursor(answer, 'after'),
    });
  const ErrorClass = CLASS_OF[status] ?? (status >= 500 ? ServerError : ApiError);
  return new ErrorClass(text, { status, code, requestId, retryAt, rateLimit });
}

/** The Error body of the service. The answer of a proxy has none. */
function errorBody({ body }: Answer): { code?: string; message?: string } {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch {
    return {};
  }
  if (typeof value !== 'object' || value === null) return {};
  const { code, message } = value as Record<string, unknown>;
  return {
    ...(typeof code === 'string' && { code }),
    ...(typeof message === 'string' && message !== '' && { message }),
  };
}
