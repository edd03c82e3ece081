import type { Row, Scenario } from '../support/scenario.ts';

const REX = { name: 'Rex', categoryId: 7 };

/** While the database is away. */
export const OUTAGE: Scenario = {
  name: 'outage',
  operators: { ada: 'admin' },
  rows: [
    ['ready', { send: 'GET /readyz', as: null }],
    ['not ready without the database', { send: 'GET /readyz', as: null, loseDatabase: true, until: 503 }],
    ['a list', { send: 'GET /v1/pets', until: 503 }],
    ['a creation', { send: 'POST /v1/pets', body: REX }],
    ['a deprecated operation', 'GET /v1/pets/1'],
    ['an unknown path', 'GET /v1/nothing'],
    ['the account', 'GET /v1/account'],
    ['no key', { send: 'GET /v1/pets', as: null }],
    ['a malformed key', { send: 'GET /v1/pets', as: null, headers: { Authorization: 'Bearer x' } }],
    ['OPTIONS', { send: 'OPTIONS /v1/pets', as: null }],
    ['HEAD', 'HEAD /v1/pets'],
    ['what is not HTTP', { raw: 'NONSENSE\r\n\r\n' }],
    ['health', { send: 'GET /healthz', as: null }],
    ['still not ready', { send: 'GET /readyz', as: null }],
    ['the admin API', { send: 'GET /admin/v1/me', as: 'ada', listener: 'console' }],
    ['the overview', { send: 'GET /admin/v1/overview', as: 'ada', listener: 'console' }],
    ['the admin API for nobody', { send: 'GET /admin/v1/me', as: null, listener: 'console' }],
    [
      'sign in',
      {
        send: 'POST /sign-in',
        as: null,
        body: { link: 'x' },
        headers: { Origin: 'http://localhost:$port' },
        listener: 'console',
      },
    ],
    [
      'the description of the admin API',
      { send: 'GET /admin/openapi.json', as: null, listener: 'console', only: 'sqlite' },
    ],
    ['ready again', { send: 'GET /readyz', as: null, loseDatabase: false, until: 200 }],
  ],
};

/** While the database is not what the service takes it for. */
export const FAULT: Scenario = {
  name: 'fault',
  operators: { ada: 'admin' },
  rows: [
    ['a list of a lost table', { send: 'GET /v1/categories', sql: 'ALTER TABLE categories RENAME TO lost' }],
    ['a creation in a lost table', { send: 'POST /v1/categories', body: { name: 'Dogs' } }],
    [
      'a fault with an id of the request',
      { send: 'GET /v1/categories/1', headers: { 'X-Request-Id': 'a-1' } },
    ],
    ['what does not need it', 'GET /v1/pets'],
    [
      'an audit log that is lost',
      {
        send: 'GET /admin/v1/audit',
        as: 'ada',
        listener: 'console',
        sql: 'ALTER TABLE audit RENAME TO lost_audit',
      },
    ],
  ],
};

/** Requests that arrive while the service stops, and one that was accepted before. */
export const STOPPING: { readonly scenario: Scenario; readonly accepted: Row } = {
  scenario: {
    name: 'stopping',
    operators: { ada: 'admin' },
    rows: [
      ['a list', 'GET /v1/pets'],
      ['a creation', { send: 'POST /v1/pets', body: REX }],
      ['a deprecated operation', 'GET /v1/pets/1'],
      ['no key', { send: 'GET /v1/pets', as: null }],
      ['OPTIONS', { send: 'OPTIONS /v1/pets', as: null }],
      ['health', { send: 'GET /healthz', as: null }],
      ['readiness', { send: 'GET /readyz', as: null }],
      ['the admin API', { send: 'GET /admin/v1/me', as: 'ada', listener: 'console' }],
      [
        'sign in',
        {
          send: 'POST /sign-in',
          as: null,
          body: { link: 'x' },
          headers: { Origin: 'http://localhost:$port' },
          listener: 'console',
        },
      ],
    ],
  },
  accepted: ['a creation that was accepted', { send: 'POST /v1/pets', body: REX }],
};
