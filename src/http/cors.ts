// Contract: section 3.
import { type Fields, fields } from './fields.ts';

/** What browsers may read of a response. */
const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Link',
  'Location',
  'Retry-After',
  'Deprecation',
  'Sunset',
  'ETag',
  'X-Request-Id',
  'Idempotent-Replay',
].join(', ');

const ALLOWED = 'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id';

/** How long a browser may remember a preflight, in seconds. */
const MAX_AGE = '86400';

/** CORS headers for a request from `origin`; bearer keys, so no cookies and no credentials. */
export type Cors = (origin: string | undefined) => Fields;

export function cors(allowed: '*' | readonly string[]): Cors {
  const exposed = fields('Access-Control-Expose-Headers', EXPOSED);
  const any = fields('Access-Control-Allow-Origin', '*') + exposed;
  if (allowed === '*') return (origin) => (origin === undefined ? '' : any);
  return (origin) => {
    const vary = fields('Vary', 'Origin');
    if (origin === undefined || !allowed.includes(origin)) return vary;
    return vary + fields('Access-Control-Allow-Origin', origin) + exposed;
  };
}

/** What a preflight is told besides, for a route with these methods. */
export function preflightHeaders(methods: string): Fields {
  return fields(
    'Allow',
    methods,
    'Access-Control-Allow-Methods',
    methods,
    'Access-Control-Allow-Headers',
    ALLOWED,
    'Access-Control-Max-Age',
    MAX_AGE,
  );
}
