import type { Scenario } from '../support/scenario.ts';

const NEXT = /<https:\/\/petstore\.example(\/v1\/account\/keys[^>]*)>; rel="next"/;
const ISSUED = /"key":"([^"]+)"/;
const CREATE = 'POST /v1/account/keys';
const ONCE = { 'Idempotency-Key': 'k-1' };

/** Apart from the others, because a key that was rotated has lost the right to create and rotate keys. */
export const KEYS: Scenario = {
  name: 'keys',
  keys: {
    manager: { scopes: ['pets:read', 'keys:manage'] },
    reader: { scopes: ['pets:read'] },
    other: { account: 'other', scopes: ['keys:manage'] },
    staging: { environment: 'staging' },
    writer: { scopes: ['pets:read', 'pets:write', 'store:write'] },
  },
  rows: [
    ['list', 'GET /v1/account/keys'],
    ['list of another account', { send: 'GET /v1/account/keys', as: 'other' }],
    ['head of the list', { send: 'HEAD /v1/account/keys', isTagRandom: true }],
    ['refuse a list for a reader', { send: 'GET /v1/account/keys', as: 'reader' }],
    ['refuse a bad limit', 'GET /v1/account/keys?limit=x'],
    ['refuse a bad cursor', 'GET /v1/account/keys?cursor=x'],
    [
      'create one',
      {
        send: CREATE,
        body: { label: 'web', scopes: ['pets:read'], expiresAt: '2027-11-21T14:00:00.5+02:00' },
        headers: ONCE,
        save: { webKey: ISSUED },
      },
    ],
    [
      'refuse to repeat it',
      {
        send: CREATE,
        body: { label: 'web', scopes: ['pets:read'], expiresAt: '2027-11-21T14:00:00.5+02:00' },
        headers: ONCE,
      },
    ],
    [
      'refuse the idempotency key with another body',
      { send: CREATE, body: { label: 'app', scopes: ['pets:read'] }, headers: ONCE },
    ],
    ['the new key works', { send: 'GET /v1/account', as: 'webKey' }],
    ['refuse scopes that the caller lacks', { send: CREATE, body: { scopes: ['pets:read', 'store:write'] } }],
    ['refuse the default scopes if the caller has none', { send: CREATE, as: 'other', body: {} }],
    ['refuse no scopes', { send: CREATE, body: { scopes: [] } }],
    ['refuse an unknown scope', { send: CREATE, body: { scopes: ['pets:eat'] } }],
    ['refuse an empty label', { send: CREATE, body: { label: '', scopes: ['pets:read'] } }],
    ['refuse a long label', { send: CREATE, body: { label: 'x'.repeat(101), scopes: ['pets:read'] } }],
    [
      'refuse a label with a key',
      {
        send: CREATE,
        body: { label: 'petstore_live_00000000000000000000000000000000000000', scopes: ['pets:read'] },
      },
    ],
    [
      'refuse an expiry in the past',
      { send: CREATE, body: { scopes: ['pets:read'], expiresAt: '2026-11-21T11:59:59Z' } },
    ],
    ['refuse an expiry that is none', { send: CREATE, body: { scopes: ['pets:read'], expiresAt: '2027' } }],
    ['refuse a missing body', { send: CREATE, headers: { 'Content-Length': '0' } }],
    ['refuse text', { send: CREATE, body: {}, headers: { 'Content-Type': 'text/plain' } }],
    ['refuse a creation by a reader', { send: CREATE, as: 'reader', body: {} }],
    [
      'create one that manages keys',
      {
        send: CREATE,
        body: { scopes: ['keys:manage', 'pets:read', 'pets:read'] },
        save: { secondKey: ISSUED },
      },
    ],
    ['the first page', { send: 'GET /v1/account/keys?limit=2', save: { next: NEXT } }],
    ['the last page', 'GET $next'],
    [
      'rotate one',
      {
        send: 'POST /v1/account/keys/6/rotate',
        body: { grace: 3_600 },
        headers: ONCE,
        save: { rotatedKey: ISSUED },
      },
    ],
    [
      'refuse to repeat the rotation',
      { send: 'POST /v1/account/keys/6/rotate', body: { grace: 3_600 }, headers: ONCE },
    ],
    ['refuse to rotate it again', { send: 'POST /v1/account/keys/6/rotate', body: {} }],
    ['rotate one with the default grace', { send: 'POST /v1/account/keys/8/rotate', body: {} }],
    [
      'rotate one at once',
      {
        send: 'POST /v1/account/keys/7/rotate',
        as: 'secondKey',
        body: { grace: 0 },
        save: { thirdKey: ISSUED },
      },
    ],
    ['its predecessor has ended', { send: 'GET /v1/account', as: 'secondKey' }],
    ['refuse to rotate what has expired', { send: 'POST /v1/account/keys/7/rotate', body: {} }],
    ['refuse to rotate a key with more scopes', { send: 'POST /v1/account/keys/5/rotate', body: {} }],
    ['refuse a long grace', { send: 'POST /v1/account/keys/2/rotate', body: { grace: 2_592_001 } }],
    ['refuse a negative grace', { send: 'POST /v1/account/keys/2/rotate', body: { grace: -1 } }],
    ['refuse a grace that is a text', { send: 'POST /v1/account/keys/2/rotate', body: { grace: '24h' } }],
    [
      'refuse a rotation without body',
      { send: 'POST /v1/account/keys/2/rotate', headers: { 'Content-Length': '0' } },
    ],
    ['rotate one of another account', { send: 'POST /v1/account/keys/3/rotate', body: {} }],
    ['rotate one of another environment', { send: 'POST /v1/account/keys/4/rotate', body: {} }],
    ['rotate an id that is none', { send: 'POST /v1/account/keys/x/rotate', body: {} }],
    ['refuse a rotation by a reader', { send: 'POST /v1/account/keys/2/rotate', as: 'reader', body: {} }],
    ['revoke one', { send: 'DELETE /v1/account/keys/2' }],
    ['revoke it again', { send: 'DELETE /v1/account/keys/2' }],
    ['refuse to rotate what is revoked', { send: 'POST /v1/account/keys/2/rotate', body: {} }],
    ['a revoked key is refused', { send: 'GET /v1/pets', as: 'reader', until: 401 }],
    ['refuse a revocation with a tag', { send: 'DELETE /v1/account/keys/6', headers: { 'If-Match': '"x"' } }],
    ['refuse a revocation with a body', { send: 'DELETE /v1/account/keys/6', body: {} }],
    ['revoke one of another account', { send: 'DELETE /v1/account/keys/3' }],
    ['revoke one of another environment', { send: 'DELETE /v1/account/keys/4' }],
    ['revoke one that does not exist', { send: 'DELETE /v1/account/keys/99' }],
    ['revoke an id that is none', { send: 'DELETE /v1/account/keys/x' }],
    ['refuse a revocation by a writer', { send: 'DELETE /v1/account/keys/6', as: 'writer' }],
    ['a rotated key works in its grace', { send: 'GET /v1/account', as: 'webKey' }],
    [
      'rotate itself',
      { send: 'POST /v1/account/keys/1/rotate', body: { grace: 3_600 }, save: { ownKey: ISSUED } },
    ],
    ['create with a rotated key', { send: CREATE, body: { scopes: ['pets:read'] } }],
    // Of another account, because one has 60 requests a minute for its keys.
    ...Array.from(
      { length: 20 },
      (_, index) =>
        [`create many, ${index}`, { send: CREATE, as: 'other', body: { scopes: ['keys:manage'] } }] as const,
    ),
    ['list of them all', { send: 'GET /v1/account/keys?limit=100', as: 'other' }],
    ['after its grace the key has expired', { send: 'GET /v1/account', as: 'webKey', pass: 3_600_000 }],
    ['revoke itself', { send: 'DELETE /v1/account/keys/11', as: 'ownKey' }],
    ['refuse PUT', { send: 'PUT /v1/account/keys', as: 'other', body: {} }],
    ['refuse GET of one', { send: 'GET /v1/account/keys/3', as: 'other' }],
    ['refuse GET of the rotation', { send: 'GET /v1/account/keys/3/rotate', as: 'other' }],
  ],
};
