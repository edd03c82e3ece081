/** What browsers may read of a response (decisions §4). */
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
export type Cors = (origin: string | undefined) => readonly string[];

export function cors(allowed: '*' | readonly string[]): Cors {
  const any = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED];
  if (allowed === '*') return (origin) => (origin === undefined ? [] : any);
  return (origin) => {
    const vary = ['Vary', 'Origin'];
    if (origin === undefined || !allowed.includes(origin)) return vary;
    return [...vary, 'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED];
  };
}

/** What a preflight is told besides, for a route with these methods. */
export function preflightHeaders(methods: string): readonly string[] {
  return [
    'Allow',
    methods,
    'Access-Control-Allow-Methods',
    methods,
    'Access-Control-Allow-Headers',
    ALLOWED,
    'Access-Control-Max-Age',
    MAX_AGE,
  ];
}
