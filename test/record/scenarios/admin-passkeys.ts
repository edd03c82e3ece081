import type { Scenario } from '../support/scenario.ts';

const OWN = { Origin: 'http://localhost:$port' };
const SIGNED = { clientDataJSON: 'e30', authenticatorData: 'e30', signature: 'e30' };
const MADE = { clientDataJSON: 'e30', attestationObject: 'e30' };
const PASSKEY = { id: 'aa', rawId: 'aa', type: 'public-key' };

/** What is refused. A challenge that is answered is random, so `src/resources/passkeys` tests the rest. */
export const ADMIN_PASSKEYS: Scenario = {
  name: 'admin-passkeys',
  listener: 'console',
  operators: { ada: 'admin' },
  rows: [
    ['list', 'GET /admin/v1/passkeys'],
    ['those of an operator', 'GET /admin/v1/passkeys?operatorId=1'],
    ['those of a number that no operator has', 'GET /admin/v1/passkeys?operatorId=0'],
    ['begin with a token', 'POST /admin/v1/passkeys/challenge'],
    [
      'add with a token',
      { send: 'POST /admin/v1/passkeys', body: { name: 'x', credential: { ...PASSKEY, response: MADE } } },
    ],
    ['add nothing', { send: 'POST /admin/v1/passkeys', body: {} }],
    ['rename one that is missing', { send: 'PATCH /admin/v1/passkeys/9', body: { name: 'x' } }],
    ['rename without a name', { send: 'PATCH /admin/v1/passkeys/9', body: {} }],
    ['remove one that is missing', 'DELETE /admin/v1/passkeys/9'],
    ['a challenge from elsewhere', { send: 'POST /sign-in/challenge', as: null }],
    ['a challenge with GET', { send: 'GET /sign-in/challenge', as: null }],
    [
      'a challenge at an IP address',
      {
        send: 'POST /sign-in/challenge',
        as: null,
        headers: { Host: '127.0.0.1', Origin: 'http://127.0.0.1:$port' },
      },
    ],
    [
      'sign in with what is no passkey',
      { send: 'POST /sign-in', as: null, body: { passkey: {} }, headers: OWN },
    ],
    [
      'sign in with an unknown passkey',
      { send: 'POST /sign-in', as: null, body: { passkey: { ...PASSKEY, response: SIGNED } }, headers: OWN },
    ],
    [
      'sign in with a passkey from elsewhere',
      { send: 'POST /sign-in', as: null, body: { passkey: { ...PASSKEY, response: SIGNED } } },
    ],
  ],
};
