import type { Scenario } from '../support/scenario.ts';

const PATHS = [
  '/',
  '/reference',
  '/reference.md',
  '/llms.txt',
  '/openapi.json',
  '/openapi.yaml',
  '/.well-known/api-catalog',
  '/dashboard',
  '/healthz',
  '/readyz',
  '/metrics',
  '/nothing',
  '/reference/nothing.js',
  '/ui/nothing.js',
  '/%zz',
  '/admin/v1/me',
  '/admin/openapi.json',
  '/sign-in',
  '/v1x',
  '/favicon.ico',
  '/reference/',
];

const STABLE = ['/healthz', '/readyz', '/.well-known/api-catalog'];

/** What is outside of `/v1`. The bytes of pages may change. */
export const PAGES: Scenario = {
  name: 'pages',
  as: null,
  hasOtherBodies: true,
  rows: [
    ...PATHS.map((path) => [path, `GET ${path}`] as const),
    ...STABLE.map((path) => [`head of ${path}`, `HEAD ${path}`] as const),
    ['refuse POST of a page', { send: 'POST /reference', body: {} }],
    ['refuse PUT of health', { send: 'PUT /healthz', body: {} }],
    ['refuse POST of an unknown path', { send: 'POST /nothing', body: {} }],
    ['a page with an id of the request', { send: 'GET /healthz', headers: { 'X-Request-Id': 'a' } }],
    ['a page with a bad id of the request', { send: 'GET /healthz', headers: { 'X-Request-Id': 'a b' } }],
  ],
};
