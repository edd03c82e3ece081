import type { Scenario } from '../support/scenario.ts';

const APP = { Origin: 'https://app.example' };
const ASK = {
  ...APP,
  'Access-Control-Request-Method': 'POST',
  'Access-Control-Request-Headers': 'authorization',
};

const PATHS = [
  '/v1/pets',
  '/v1/pets/1',
  '/v1/categories',
  '/v1/categories/1',
  '/v1/store/orders',
  '/v1/store/orders/1',
  '/v1/store/orders/1/complete',
  '/v1/account',
  '/v1/account/usage',
  '/v1/account/requests',
  '/v1/account/keys',
  '/v1/account/keys/1',
  '/v1/account/keys/1/rotate',
  '/v1/nothing',
  '/v1/%zz',
  '/v1',
  '*',
];

export const CORS: Scenario = {
  name: 'browsers',
  rows: [
    ...PATHS.map(
      (path) => [`preflight of ${path}`, { send: `OPTIONS ${path}`, as: null, headers: ASK }] as const,
    ),
    ['OPTIONS without origin', { send: 'OPTIONS /v1/pets', as: null }],
    ['a list for an origin', { send: 'GET /v1/pets', headers: APP }],
    ['a refusal for an origin', { send: 'GET /v1/pets', as: null, headers: APP }],
    [
      'a creation for an origin',
      { send: 'POST /v1/pets', body: { name: 'Rex', categoryId: 7 }, headers: APP },
    ],
    [
      'a broken request for an origin',
      { raw: 'CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\nOrigin: https://app.example\r\n\r\n' },
    ],
    ['a page for an origin', { send: 'GET /healthz', as: null, headers: APP }],
    ['OPTIONS of a page', { send: 'OPTIONS /reference', as: null, headers: ASK }],
  ],
};

export const CORS_OF_SOME: Scenario = {
  name: 'browsers-of-some',
  env: { CORS_ORIGINS: 'https://app.example,https://b.example' },
  rows: [
    ['preflight of a known origin', { send: 'OPTIONS /v1/pets', as: null, headers: ASK }],
    [
      'preflight of another origin',
      { send: 'OPTIONS /v1/pets', as: null, headers: { ...ASK, Origin: 'https://c.example' } },
    ],
    ['a list for a known origin', { send: 'GET /v1/pets', headers: { Origin: 'https://b.example' } }],
    ['a list for another origin', { send: 'GET /v1/pets', headers: { Origin: 'https://c.example' } }],
    ['a list without origin', 'GET /v1/pets'],
    ['a broken request', { raw: 'NONSENSE\r\n\r\n' }],
  ],
};
