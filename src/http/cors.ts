// Contract: section 3.
import { ACCEPT_PATCH } from './body.ts';
import { REQUEST_HEADERS } from './request-headers.ts';
import { type Fields, fields, joinFields, NO_FIELDS } from 'direct-http';

/** The headers that scripts in a browser may read. */
const EXPOSED =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, Link, Location, ' +
  'Retry-After, Deprecation, Sunset, ETag, X-Request-Id, Idempotent-Replay';

const ALLOWED = ['Authorization', 'Content-Type', ...Object.keys(REQUEST_HEADERS)].join(', ');

/** Seconds that a browser may keep the answer to a preflight. */
const MAX_AGE = '86400';

/** The CORS headers of a response. The API uses bearer keys, so it needs no cookies and no credentials. */
export interface Cors {
  /** For a request without `Origin`. */
  readonly withoutOrigin: Fields;
  of(origin: string): Fields;
}

export function cors(allowed: '*' | readonly string[]): Cors {
  const exposed = fields('Access-Control-Expose-Headers', EXPOSED);
  const any = joinFields(fields('Access-Control-Allow-Origin', '*'), exposed);
  if (allowed === '*') return { withoutOrigin: NO_FIELDS, of: () => any };
  const vary = fields('Vary', 'Origin');
  return {
    withoutOrigin: vary,
    of: (origin) =>
      allowed.includes(origin)
        ? joinFields(vary, fields('Access-Control-Allow-Origin', origin), exposed)
        : vary,
  };
}

/** The answer to a preflight has these headers in addition to those of `Cors`. `methods` are those of the route. */
export function preflightHeaders(methods: string): Fields {
  const allowed = fields(
    'Allow',
    methods,
    'Access-Control-Allow-Methods',
    methods,
    'Access-Control-Allow-Headers',
    ALLOWED,
    'Access-Control-Max-Age',
    MAX_AGE,
  );
  return methods.includes('PATCH') ? joinFields(allowed, ACCEPT_PATCH) : allowed;
}
