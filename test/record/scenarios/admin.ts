import type { Row, Scenario } from '../support/scenario.ts';

const HOUR = 3_600_000;
const OWN = { Origin: 'http://localhost:$port' };
const NEXT = /<(\/admin\/v1[^>]*)>; rel="next"/;
const ISSUED = /"key":"([^"]+)"/;
const TOKEN = /"token":"([^"]+)"/;
const LINK = /sign-in#([\w-]+)/;
const SESSION = /(petstore_console=[\w-]+)/;
const OPERATORS = { ada: 'admin', vera: 'viewer' } as const;
const EMPTY = { 'Content-Length': '0' };

/** Every operation, with a role that it refuses, and what all of them refuse. */
const OPERATIONS: readonly (readonly [send: string, role: 'admin' | 'viewer'])[] = [
  ['GET /admin/v1/me', 'viewer'],
  ['GET /admin/v1/overview', 'viewer'],
  ['GET /admin/v1/accounts', 'viewer'],
  ['POST /admin/v1/accounts', 'admin'],
  ['GET /admin/v1/accounts/1', 'viewer'],
  ['PATCH /admin/v1/accounts/1', 'admin'],
  ['GET /admin/v1/keys', 'viewer'],
  ['POST /admin/v1/accounts/1/keys', 'admin'],
  ['POST /admin/v1/keys/1/rotate', 'admin'],
  ['DELETE /admin/v1/keys/1', 'admin'],
  ['POST /admin/v1/keys/find', 'viewer'],
  ['GET /admin/v1/bans', 'viewer'],
  ['DELETE /admin/v1/bans/1', 'admin'],
  ['GET /admin/v1/usage', 'viewer'],
  ['GET /admin/v1/deprecations', 'viewer'],
  ['GET /admin/v1/failed-requests', 'viewer'],
  ['GET /admin/v1/audit', 'viewer'],
  ['GET /admin/v1/operators', 'viewer'],
  ['POST /admin/v1/operators', 'admin'],
  ['DELETE /admin/v1/operators/1', 'admin'],
  ['POST /admin/v1/operators/1/links', 'admin'],
  ['GET /admin/v1/tokens', 'admin'],
  ['POST /admin/v1/operators/1/tokens', 'admin'],
  ['DELETE /admin/v1/tokens/1', 'admin'],
  ['GET /admin/v1/passkeys', 'viewer'],
  ['POST /admin/v1/passkeys', 'viewer'],
  ['POST /admin/v1/passkeys/challenge', 'viewer'],
  ['PATCH /admin/v1/passkeys/1', 'viewer'],
  ['DELETE /admin/v1/passkeys/1', 'viewer'],
];

export const ADMIN_ACCESS: Scenario = {
  name: 'admin-access',
  listener: 'console',
  operators: OPERATORS,
  rows: [
    ['me', 'GET /admin/v1/me'],
    ['me of a viewer', { send: 'GET /admin/v1/me', as: 'vera' }],
    ['me without change', { send: 'GET /admin/v1/me', headers: { 'If-None-Match': '*' } }],
    ['head of me', 'HEAD /admin/v1/me'],
    ['me with an id of the request', { send: 'GET /admin/v1/me', headers: { 'X-Request-Id': 'a-1' } }],
    ...OPERATIONS.map(([send]): Row => [`nobody: ${send}`, { send, as: null }]),
    ...OPERATIONS.filter(([, role]) => role === 'admin').map(
      ([send]): Row => [`a viewer: ${send}`, { send, as: 'vera' }],
    ),
    ...[...new Set(OPERATIONS.map(([send]) => send.split(' ')[1] ?? ''))].flatMap((path): Row[] => [
      [`OPTIONS ${path}`, `OPTIONS ${path}`],
      [`PUT ${path}`, `PUT ${path}`],
    ]),
    ['the description', { send: 'GET /admin/openapi.json', as: null }],
    ['head of the description', { send: 'HEAD /admin/openapi.json', as: null }],
    ['refuse POST of the description', { send: 'POST /admin/openapi.json', as: null, body: {} }],
    ['an unknown path', 'GET /admin/v1/nothing'],
    ['an unknown path for nobody', { send: 'GET /admin/v1/nothing', as: null }],
    ['the prefix', 'GET /admin/v1'],
    ['the prefix with a slash', 'GET /admin/v1/'],
    ['a broken path', 'GET /admin/v1/%zz'],
    ['a path of the public API', { send: 'GET /v1/pets', as: null }],
    ['health of the public listener', { send: 'GET /healthz', as: null }],
    ['an unknown page', { send: 'GET /nothing.html', as: null }],
    ['a name of a host that is not ours', { send: 'GET /admin/v1/me', headers: { Host: 'evil.example' } }],
    ['another host that is an address', { send: 'GET /admin/v1/me', headers: { Host: '127.0.0.1:99' } }],
    ['no Host', { raw: 'GET /admin/v1/me HTTP/1.1\r\nConnection: close\r\n\r\n' }],
    [
      'two Hosts',
      { raw: 'GET /admin/v1/me HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n' },
    ],
    ['what is not HTTP', { raw: 'RUBBISH\r\n\r\n' }],
    [
      'a header block over 16 KiB',
      { raw: `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(17_000)}\r\n\r\n` },
    ],
    ['CONNECT', { raw: 'CONNECT a.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n' }],
    [
      'another expectation',
      { raw: 'GET /admin/v1/me HTTP/1.1\r\nHost: localhost\r\nExpect: x\r\nConnection: close\r\n\r\n' },
    ],
    [
      'a body over 16 KiB',
      { send: 'POST /admin/v1/operators', body: { name: 'x'.repeat(17_000), role: 'admin' } },
    ],
    ['a DELETE with a body', { send: 'DELETE /admin/v1/operators/9', body: {} }],
    ['a missing body', { send: 'POST /admin/v1/operators', headers: EMPTY }],
    [
      'a body of text',
      { send: 'POST /admin/v1/operators', body: {}, headers: { 'Content-Type': 'text/plain' } },
    ],
    [
      'a patch of another media type',
      { send: 'PATCH /admin/v1/accounts/1', body: {}, headers: { 'Content-Type': 'text/plain' } },
    ],
    ['a body that is not JSON', { send: 'POST /admin/v1/operators', body: '{' }],

    ['a token in the query is none', { send: 'GET /admin/v1/me?token=$ada', as: null }],
    [
      'a token of a proxy in front',
      { send: 'GET /admin/v1/me', as: null, headers: { Authorization: 'Bearer of-the-proxy' } },
    ],
    ['another scheme', { send: 'GET /admin/v1/me', as: null, headers: { Authorization: 'Basic YTpi' } }],
    [
      'an unknown token',
      {
        send: 'GET /admin/v1/me',
        as: null,
        headers: { Authorization: `Bearer petstore_admin_${'0'.repeat(38)}` },
      },
    ],
    [
      'an unknown session',
      { send: 'GET /admin/v1/me', as: null, headers: { Cookie: `petstore_console=${'x'.repeat(43)}` } },
    ],

    ['make a link', { send: 'POST /admin/v1/operators/1/links', save: { linkSecret: LINK } }],
    ['sign in from elsewhere', { send: 'POST /sign-in', as: null, body: { link: '$linkSecret' } }],
    [
      'sign in with a foreign origin',
      {
        send: 'POST /sign-in',
        as: null,
        body: { link: '$linkSecret' },
        headers: { Origin: 'http://evil.example' },
      },
    ],
    [
      'sign in',
      {
        send: 'POST /sign-in',
        as: null,
        body: { link: '$linkSecret' },
        headers: OWN,
        save: { sessionSecret: SESSION },
      },
    ],
    ['sign in again', { send: 'POST /sign-in', as: null, body: { link: '$linkSecret' }, headers: OWN }],
    ['sign in with an unknown link', { send: 'POST /sign-in', as: null, body: { link: 'x' }, headers: OWN }],
    ['sign in without a link', { send: 'POST /sign-in', as: null, body: {}, headers: OWN }],
    ['sign in without a body', { send: 'POST /sign-in', as: null, headers: { ...OWN, ...EMPTY } }],
    ['refuse PUT of the sign-in', { send: 'PUT /sign-in', as: null, body: {} }],
    ['refuse GET of the sign-out', { send: 'GET /sign-out', as: null }],
    ['me of a session', { send: 'GET /admin/v1/me', as: null, headers: { Cookie: 'a=b; $sessionSecret' } }],
    [
      'a change of a session',
      {
        send: 'POST /admin/v1/operators',
        as: null,
        body: { name: 'eve', role: 'viewer' },
        headers: { ...OWN, Cookie: '$sessionSecret' },
      },
    ],
    [
      'a change of a session from elsewhere',
      {
        send: 'POST /admin/v1/operators',
        as: null,
        body: { name: 'mallory', role: 'viewer' },
        headers: { Cookie: '$sessionSecret' },
      },
    ],
    ['make a link that ends', { send: 'POST /admin/v1/operators/1/links', save: { linkSecret: LINK } }],
    [
      'sign in too late',
      { send: 'POST /sign-in', as: null, pass: 10 * 60_000, body: { link: '$linkSecret' }, headers: OWN },
    ],
    [
      'the session has ended',
      { send: 'GET /admin/v1/me', as: null, pass: 12 * HOUR, headers: { Cookie: '$sessionSecret' } },
    ],
    ['make another link', { send: 'POST /admin/v1/operators/2/links', save: { linkSecret: LINK } }],
    [
      'sign in as a viewer',
      {
        send: 'POST /sign-in',
        as: null,
        body: { link: '$linkSecret' },
        headers: OWN,
        save: { sessionSecret: SESSION },
      },
    ],
    [
      'sign out from elsewhere',
      { send: 'POST /sign-out', as: null, headers: { Cookie: '$sessionSecret', ...EMPTY } },
    ],
    [
      'sign out',
      { send: 'POST /sign-out', as: null, headers: { ...OWN, Cookie: '$sessionSecret', ...EMPTY } },
    ],
    ['sign out without session', { send: 'POST /sign-out', as: null, headers: { ...OWN, ...EMPTY } }],
    ['the session is over', { send: 'GET /admin/v1/me', as: null, headers: { Cookie: '$sessionSecret' } }],
    [
      'too many failed attempts',
      { send: 'POST /sign-in', as: null, times: 21, body: { link: 'x' }, headers: OWN },
    ],
    ['a token still works', 'GET /admin/v1/me'],
  ],
};

export const ADMIN_COOKIES: Scenario = {
  name: 'admin-cookies',
  listener: 'console',
  operators: OPERATORS,
  env: { CONSOLE_URL: 'https://console.example', PETSTORE_ENVIRONMENT: 'staging' },
  rows: [
    ['me', 'GET /admin/v1/me'],
    ['make a link', { send: 'POST /admin/v1/operators/1/links', save: { linkSecret: LINK } }],
    [
      'sign in',
      {
        send: 'POST /sign-in',
        as: null,
        body: { link: '$linkSecret' },
        headers: { Origin: 'https://console.example' },
      },
    ],
    [
      'sign in from the address of the listener',
      { send: 'POST /sign-in', as: null, body: { link: 'x' }, headers: OWN },
    ],
    ['any host', { send: 'GET /admin/v1/me', headers: { Host: 'inside.example' } }],
    [
      'sign out',
      { send: 'POST /sign-out', as: null, headers: { Origin: 'https://console.example', ...EMPTY } },
    ],
  ],
};

export const ADMIN_PAGES: Scenario = {
  name: 'admin-pages',
  listener: 'console',
  as: null,
  hasOtherBodies: true,
  rows: [
    '/',
    '/accounts',
    '/accounts/1',
    '/bans',
    '/failed-requests',
    '/failed-requests/1',
    '/audit',
    '/sign-in',
    '/deprecations',
    '/ui/nothing.js',
  ].flatMap((path): Row[] => [
    [path, `GET ${path}`],
    [`POST ${path}`, { send: `POST ${path}`, body: {} }],
  ]),
};

export const ADMIN_ACCOUNTS: Scenario = {
  name: 'admin-accounts',
  listener: 'console',
  operators: OPERATORS,
  rows: [
    ['no accounts', 'GET /admin/v1/accounts'],
    ['create one', { send: 'POST /admin/v1/accounts', body: { name: 'shop', plan: 'pro' } }],
    [
      'create one with limits',
      {
        send: 'POST /admin/v1/accounts',
        body: { name: 'Chain', plan: 'enterprise', perMinute: 5_000, perDay: 1_000_000 },
      },
    ],
    [
      'create a free one',
      { send: 'POST /admin/v1/accounts', body: { name: 'shop 2', plan: 'free', more: 1 } },
    ],
    [
      'refuse a name that is taken',
      { send: 'POST /admin/v1/accounts', body: { name: 'SHOP', plan: 'free' } },
    ],
    [
      'refuse an enterprise without limits',
      { send: 'POST /admin/v1/accounts', body: { name: 'x', plan: 'enterprise' } },
    ],
    [
      'refuse limits of another plan',
      { send: 'POST /admin/v1/accounts', body: { name: 'x', plan: 'free', perMinute: 1, perDay: 1 } },
    ],
    [
      'refuse a limit of 0',
      { send: 'POST /admin/v1/accounts', body: { name: 'x', plan: 'enterprise', perMinute: 0, perDay: 1 } },
    ],
    ['refuse an unknown plan', { send: 'POST /admin/v1/accounts', body: { name: 'x', plan: 'gold' } }],
    ['refuse no plan', { send: 'POST /admin/v1/accounts', body: { name: 'x' } }],
    ['refuse an empty name', { send: 'POST /admin/v1/accounts', body: { name: '', plan: 'free' } }],
    [
      'refuse a name with a control character',
      { send: 'POST /admin/v1/accounts', body: { name: 'a\n', plan: 'free' } },
    ],
    ['list', 'GET /admin/v1/accounts'],
    ['the first page', { send: 'GET /admin/v1/accounts?limit=2', save: { next: NEXT } }],
    ['the last page', 'GET $next'],
    ['search', 'GET /admin/v1/accounts?search=SHOP'],
    ['search for nothing', 'GET /admin/v1/accounts?search=%25'],
    ['refuse a long search', `GET /admin/v1/accounts?search=${'x'.repeat(101)}`],
    ['refuse a bad limit', 'GET /admin/v1/accounts?limit=0'],
    ['refuse a bad cursor', 'GET /admin/v1/accounts?cursor=x'],
    ['get one', 'GET /admin/v1/accounts/1'],
    ['get one that does not exist', 'GET /admin/v1/accounts/99'],
    ['get a number that is none', 'GET /admin/v1/accounts/shop'],
    ['get the number 0', 'GET /admin/v1/accounts/0'],
    ['get a number out of range', 'GET /admin/v1/accounts/9007199254740993'],
    [
      'change the plan',
      { send: 'PATCH /admin/v1/accounts/1', body: { plan: 'free', expected: { plan: 'pro' } } },
    ],
    [
      'refuse a change of what is otherwise',
      { send: 'PATCH /admin/v1/accounts/1', body: { plan: 'pro', expected: { plan: 'pro' } } },
    ],
    [
      'change to an enterprise',
      { send: 'PATCH /admin/v1/accounts/1', body: { plan: 'enterprise', perMinute: 7, perDay: 8 } },
    ],
    ['change a limit', { send: 'PATCH /admin/v1/accounts/1', body: { perMinute: 9 } }],
    ['rename', { send: 'PATCH /admin/v1/accounts/1', body: { name: 'Store' } }],
    ['refuse the name of another', { send: 'PATCH /admin/v1/accounts/1', body: { name: 'chain' } }],
    ['suspend', { send: 'PATCH /admin/v1/accounts/1', pass: 1_000, body: { suspended: true } }],
    ['suspend again', { send: 'PATCH /admin/v1/accounts/1', pass: 1_000, body: { suspended: true } }],
    ['resume', { send: 'PATCH /admin/v1/accounts/1', body: { suspended: false, name: 'store' } }],
    ['change nothing', { send: 'PATCH /admin/v1/accounts/1', body: {} }],
    [
      'refuse an enterprise without limits in a change',
      { send: 'PATCH /admin/v1/accounts/3', body: { plan: 'enterprise' } },
    ],
    ['refuse a limit of a plan', { send: 'PATCH /admin/v1/accounts/3', body: { perMinute: 7 } }],
    ['refuse a plan that is null', { send: 'PATCH /admin/v1/accounts/3', body: { plan: null } }],
    ['refuse a bad name', { send: 'PATCH /admin/v1/accounts/3', body: { name: ' ' } }],
    [
      'refuse a suspension that is a text',
      { send: 'PATCH /admin/v1/accounts/3', body: { suspended: 'yes' } },
    ],
    ['change one that does not exist', { send: 'PATCH /admin/v1/accounts/99', body: { plan: 'free' } }],
    ['the audit log', { send: 'GET /admin/v1/audit?limit=100' }],
    ['the audit log of one account', 'GET /admin/v1/audit?accountId=2'],
    [
      'the first page of the audit log',
      { send: 'GET /admin/v1/audit?limit=1&accountId=1', save: { next: NEXT } },
    ],
    ['the next page of the audit log', 'GET $next'],
    ['the audit log since then', 'GET /admin/v1/audit?since=2026-11-21T12:00:02Z'],
    ['refuse a bad account', 'GET /admin/v1/audit?accountId=shop'],
    ['refuse a bad instant', 'GET /admin/v1/audit?since=yesterday'],
  ],
};

const KEY_ROWS: readonly Row[] = [
  ['no keys', 'GET /admin/v1/keys'],
  ['create an account', { send: 'POST /admin/v1/accounts', body: { name: 'shop', plan: 'pro' } }],
  [
    'create a key',
    {
      send: 'POST /admin/v1/accounts/1/keys',
      body: { label: 'price board', scopes: ['pets:read'] },
      save: { firstKey: ISSUED },
    },
  ],
  [
    'create one with the default scopes',
    { send: 'POST /admin/v1/accounts/1/keys', body: {}, save: { secondKey: ISSUED } },
  ],
  [
    'create one that ends',
    {
      send: 'POST /admin/v1/accounts/1/keys',
      body: { scopes: ['keys:manage', 'pets:read'], expiresAt: '2026-11-22T00:00:00+01:00' },
    },
  ],
  [
    'refuse a label with a control character',
    { send: 'POST /admin/v1/accounts/1/keys', body: { label: '\t' } },
  ],
  ['refuse no scopes', { send: 'POST /admin/v1/accounts/1/keys', body: { scopes: [] } }],
  ['refuse an unknown scope', { send: 'POST /admin/v1/accounts/1/keys', body: { scopes: ['x'] } }],
  [
    'refuse an expiry in the past',
    { send: 'POST /admin/v1/accounts/1/keys', body: { expiresAt: '2026-11-21T12:00:00Z' } },
  ],
  ['refuse an expiry that is none', { send: 'POST /admin/v1/accounts/1/keys', body: { expiresAt: 7 } }],
  ['create for an account that does not exist', { send: 'POST /admin/v1/accounts/9/keys', body: {} }],
  ['list', 'GET /admin/v1/keys'],
  ['the first page', { send: 'GET /admin/v1/keys?limit=2', save: { next: NEXT } }],
  ['the last page', 'GET $next'],
  ['of an account', 'GET /admin/v1/keys?accountId=2'],
  ['that end soon', 'GET /admin/v1/keys?expiresWithin=86400'],
  ['that nobody used', 'GET /admin/v1/keys?unusedFor=1'],
  ['in a state', 'GET /admin/v1/keys?state=revoked'],
  ['refuse an unknown state', 'GET /admin/v1/keys?state=lost'],
  ['refuse a duration that is none', 'GET /admin/v1/keys?unusedFor=90d'],
  ['refuse an account that is none', 'GET /admin/v1/keys?accountId=x'],
  ['find one', { send: 'POST /admin/v1/keys/find', as: 'vera', body: { key: '$firstKey' } }],
  [
    'find an unknown one',
    {
      send: 'POST /admin/v1/keys/find',
      body: { key: 'petstore_live_000000000000000000000000000000003OhKB4' },
    },
  ],
  ['find what is no key', { send: 'POST /admin/v1/keys/find', body: { key: 'x' } }],
  ['find nothing', { send: 'POST /admin/v1/keys/find', body: {} }],
  ['rotate one', { send: 'POST /admin/v1/keys/1/rotate', body: { grace: 60 }, save: { thirdKey: ISSUED } }],
  ['rotate it again', { send: 'POST /admin/v1/keys/1/rotate', body: {} }],
  ['rotate with the default grace', { send: 'POST /admin/v1/keys/2/rotate', body: {} }],
  ['refuse a long grace', { send: 'POST /admin/v1/keys/4/rotate', body: { grace: 2_592_001 } }],
  ['refuse a grace that is a text', { send: 'POST /admin/v1/keys/4/rotate', body: { grace: '1h' } }],
  ['rotate without body', { send: 'POST /admin/v1/keys/4/rotate', headers: EMPTY }],
  ['rotate one that does not exist', { send: 'POST /admin/v1/keys/99/rotate', body: {} }],
  ['rotate a number that is none', { send: 'POST /admin/v1/keys/x/rotate', body: {} }],
  ['revoke one', 'DELETE /admin/v1/keys/4'],
  ['revoke it again', 'DELETE /admin/v1/keys/4'],
  ['rotate a revoked one', { send: 'POST /admin/v1/keys/4/rotate', body: {} }],
  ['revoke one that does not exist', 'DELETE /admin/v1/keys/99'],
  ['rotated ones', 'GET /admin/v1/keys?state=rotated'],
  ['expired ones', { send: 'GET /admin/v1/keys?state=expired', pass: 60_000 }],
  ['the audit log', 'GET /admin/v1/audit?limit=100'],
];

export const ADMIN_KEYS: Scenario = {
  name: 'admin-keys',
  listener: 'console',
  operators: OPERATORS,
  rows: KEY_ROWS,
};

export const ADMIN_OPERATORS: Scenario = {
  name: 'admin-operators',
  listener: 'console',
  operators: OPERATORS,
  rows: [
    ['list', 'GET /admin/v1/operators'],
    ['create one', { send: 'POST /admin/v1/operators', pass: 1_000, body: { name: 'Eve', role: 'viewer' } }],
    [
      'refuse a name that is taken',
      { send: 'POST /admin/v1/operators', body: { name: 'eve', role: 'admin' } },
    ],
    ['refuse an unknown role', { send: 'POST /admin/v1/operators', body: { name: 'x', role: 'root' } }],
    ['refuse an empty name', { send: 'POST /admin/v1/operators', body: { name: '', role: 'admin' } }],
    ['refuse no name', { send: 'POST /admin/v1/operators', body: { role: 'admin' } }],
    ['the first page', { send: 'GET /admin/v1/operators?limit=2', save: { next: NEXT } }],
    ['the last page', 'GET $next'],
    ['make a link', 'POST /admin/v1/operators/3/links'],
    ['make a link for nobody', 'POST /admin/v1/operators/99/links'],
    ['make a token', { send: 'POST /admin/v1/operators/3/tokens', body: {}, save: { eveSecret: TOKEN } }],
    [
      'make one that ends',
      { send: 'POST /admin/v1/operators/3/tokens', body: { expiresAt: '2026-11-21T13:00:00Z' } },
    ],
    [
      'refuse one that ended',
      { send: 'POST /admin/v1/operators/3/tokens', body: { expiresAt: '2026-11-21T11:00:00Z' } },
    ],
    [
      'refuse an end that is none',
      { send: 'POST /admin/v1/operators/3/tokens', body: { expiresAt: 'soon' } },
    ],
    ['make one for nobody', { send: 'POST /admin/v1/operators/99/tokens', body: {} }],
    ['the token works', { send: 'GET /admin/v1/me', as: 'eveSecret' }],
    ['tokens', 'GET /admin/v1/tokens'],
    ['the first page of tokens', { send: 'GET /admin/v1/tokens?limit=3', save: { next: NEXT } }],
    ['the last page of tokens', 'GET $next'],
    ['revoke one', 'DELETE /admin/v1/tokens/3'],
    ['revoke it again', 'DELETE /admin/v1/tokens/3'],
    ['it works no more', { send: 'GET /admin/v1/me', as: 'eveSecret' }],
    ['revoke one that does not exist', 'DELETE /admin/v1/tokens/99'],
    ['tokens after an end', { send: 'GET /admin/v1/tokens', pass: HOUR }],
    ['remove an operator', 'DELETE /admin/v1/operators/3'],
    ['remove it again', 'DELETE /admin/v1/operators/3'],
    ['remove a number that is none', 'DELETE /admin/v1/operators/eve'],
    ['remove oneself', { send: 'DELETE /admin/v1/operators/1' }],
    ['the audit log', { send: 'GET /admin/v1/audit?limit=100', as: 'vera' }],
  ],
};
