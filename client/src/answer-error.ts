import { ApiError, type ErrorDetails, PetStoreError, RateLimitError } from './errors.ts';
import type { Answer } from './exchange.ts';
import { parseJson } from './json.ts';

/**
 * The error for an answer other than 2xx.
 * @param asked its `Retry-After`, in milliseconds
 */
export function answerError(answer: Answer, asked: number | undefined): PetStoreError {
  const { status, statusText, headers } = answer;
  const requestId = headers.get('x-request-id') ?? undefined;
  // Browsers hide a redirect that is not followed, and give it the status 0.
  if (status < 400) {
    return new PetStoreError(
      `The base address redirects (${status}): set baseUrl to where the service really is.`,
      {
        status,
        requestId,
      },
    );
  }
  const { code, message } = errorBody(answer);
  const details: ErrorDetails = {
    status,
    code,
    requestId,
    retryAfter: asked === undefined ? undefined : Math.ceil(asked / 1000),
  };
  const text = message ?? `The answer was ${status} ${statusText}`.trimEnd();
  return status === 429 ? new RateLimitError(text, details) : new ApiError(text, details);
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
