const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limit_exceeded',
};

export const MESSAGES = {
  cursor: 'The cursor is invalid.',
  key: 'The API key is missing or invalid.',
  limit: 'Too many requests in this minute.',
  pet: 'There is no animal with this petId.',
} as const;

/** The body of an error. */
export function fault(status: number, message: string) {
  return { code: CODES[status] ?? 'internal_error', message, status };
}
