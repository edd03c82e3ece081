import type { Scenario } from '../support/scenario.ts';

const EXPIRY = Date.parse('2026-11-21T13:00:00Z');

export const AUTHENTICATION: Scenario = {
  name: 'authentication',
  keys: {
    key: {},
    bare: { scopes: [] },
    expiring: { expiresAt: EXPIRY },
    staging: { environment: 'staging' },
    manager: { scopes: ['keys:manage'] },
  },
  rows: [
    ['no key', { send: 'GET /v1/pets', as: null }],
    ['no key for an unknown path', { send: 'GET /v1/nothing', as: null }],
    ['no key for a broken path', { send: 'GET /v1/%zz', as: null }],
    ['no key for a deprecated operation', { send: 'GET /v1/pets/1', as: null }],
    ['no key for a HEAD', { send: 'HEAD /v1/pets', as: null }],
    ['an empty key', { send: 'GET /v1/pets', as: null, headers: { Authorization: 'Bearer' } }],
    ['another scheme', { send: 'GET /v1/pets', as: null, headers: { Authorization: 'Basic YTpi' } }],
    ['two words', { send: 'GET /v1/pets', as: null, headers: { Authorization: 'Bearer a b' } }],
    ['a malformed key', { send: 'GET /v1/pets', as: null, headers: { Authorization: 'Bearer secret' } }],
    ['a mistyped key', { send: 'GET /v1/pets', as: null, headers: { Authorization: `Bearer petstore_live_${'0'.repeat(38)}` } }],
    ['an unknown key', { send: 'GET /v1/pets', as: null, headers: { Authorization: 'Bearer petstore_live_000000000000000000000000000000003OhKB4' } }],
    ['a key of the other environment', { send: 'GET /v1/pets', as: 'staging' }],
    ['the scheme in another case', { send: 'GET /v1/account', as: null, headers: { Authorization: 'bEARER  $key ' } }],
    ['a key in the query is none', { send: 'GET /v1/pets?key=$key', as: null }],
    ['a key before its expiry', { send: 'GET /v1/pets', as: 'expiring' }],
    ['an expired key', { send: 'GET /v1/pets', as: 'expiring', pass: 3_600_000 }],
    ['revoke the key', { send: 'DELETE /v1/account/keys/3', as: 'manager' }],
    ['a revoked key', { send: 'GET /v1/pets', as: 'expiring' }],
    ['an unknown path', 'GET /v1/nothing'],
    ['the base address', 'GET /v1'],
    ['the base address with a slash', 'GET /v1/'],
    ['an unknown path with another method', { send: 'PUT /v1/nothing', body: {} }],
    ['an encoded slash', 'GET /v1%2Fpets'],
    ['a double slash', 'GET /v1//pets'],
    ['a path in another case', 'GET /v1/Pets'],
    ['a broken path', 'GET /v1/%zz'],
    ['a path that is not UTF-8', 'GET /v1/%E0%A4%A'],
    ['a segment with a broken path', 'GET /v1/pets/%'],
    ['TRACE', 'TRACE /v1/pets'],
    ['PROPFIND', 'PROPFIND /v1/pets'],
    ...['GET /v1/pets', 'POST /v1/pets', 'GET /v1/pets/1', 'PATCH /v1/pets/1', 'DELETE /v1/pets/1', 'GET /v1/categories', 'POST /v1/categories', 'GET /v1/categories/1', 'PATCH /v1/categories/1', 'POST /v1/store/orders', 'GET /v1/store/orders', 'GET /v1/store/orders/1', 'POST /v1/store/orders/1/complete', 'DELETE /v1/store/orders/1', 'GET /v1/account/keys', 'POST /v1/account/keys', 'POST /v1/account/keys/1/rotate', 'DELETE /v1/account/keys/1'].map(
      (send) => [`${send} lacks its scope`, { send, as: 'bare' }] as const,
    ),
  ],
};
