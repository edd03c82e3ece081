import type { Scenario } from '../support/scenario.ts';

const HOUR = 3_600_000;
const NEXT = /<(\/admin\/v1[^>]*)>; rel="next"/;
const SPAN = 'from=2026-11-21T00:00:00Z&to=2026-11-22T00:00:00Z';

/** What operators watch. The requests with `listener: 'public'` are those of a client. */
export const ADMIN_WATCH: Scenario = {
  name: 'admin-watch',
  listener: 'console',
  operators: { ada: 'admin' },
  keys: {
    shop: { account: 'shop', limits: { perMinute: 3, perDay: 1_000 } },
    chain: { account: 'chain' },
  },
  as: 'ada',
  env: { BAN_AFTER: '2' },
  rows: [
    ['no bans', 'GET /admin/v1/bans'],
    ['no failed requests', 'GET /admin/v1/failed-requests'],
    ['lift a ban that is none', 'DELETE /admin/v1/bans/1'],
    ['a client lists', { send: 'GET /v1/pets', as: 'shop', listener: 'public' }],
    [
      'a client calls a deprecated operation',
      { send: 'GET /v1/pets/1', as: 'shop', listener: 'public', headers: { 'X-Request-Id': 'one' } },
    ],
    [
      'another client, too',
      {
        send: 'GET /v1/pets/1',
        as: 'chain',
        listener: 'public',
        times: 2,
        headers: { 'X-Request-Id': 'two' },
      },
    ],
    [
      'a client without key',
      { send: 'GET /v1/pets', as: null, listener: 'public', headers: { 'X-Request-Id': 'three' } },
    ],
    [
      'a client calls no operation',
      { send: 'GET /v1/nothing', as: 'shop', listener: 'public', headers: { 'X-Request-Id': 'four' } },
    ],
    [
      'a client gets banned',
      { send: 'GET /v1/pets', as: 'shop', listener: 'public', times: 3, headers: { 'X-Request-Id': 'five' } },
    ],
    ['bans', 'GET /admin/v1/bans'],
    ['the account of the ban', 'GET /admin/v1/accounts/1'],
    ['the keys that are banned', 'GET /admin/v1/keys?state=banned'],
    ['failed requests', 'GET /admin/v1/failed-requests'],
    [
      'the first page of failed requests',
      { send: 'GET /admin/v1/failed-requests?limit=2', save: { next: NEXT } },
    ],
    ['the next page of failed requests', 'GET $next'],
    ['failed requests by request id', 'GET /admin/v1/failed-requests?requestId=two'],
    ['failed requests by account', 'GET /admin/v1/failed-requests?accountId=2&status=404'],
    ['failed requests by key', 'GET /admin/v1/failed-requests?keyId=1&status=429'],
    ['refuse a status that is none', 'GET /admin/v1/failed-requests?status=200'],
    ['refuse a long request id', `GET /admin/v1/failed-requests?requestId=${'x'.repeat(129)}`],
    ['lift the ban', 'DELETE /admin/v1/bans/1'],
    ['lift it again', 'DELETE /admin/v1/bans/1'],
    ['the audit log', 'GET /admin/v1/audit'],
    ['the overview', { send: 'GET /admin/v1/overview', restart: true, pass: HOUR, isWhole: true }],
    ['usage', `GET /admin/v1/usage?${SPAN}`],
    ['usage by the hour', `GET /admin/v1/usage?${SPAN}&interval=hour`],
    ['usage of one account', `GET /admin/v1/usage?${SPAN}&accountId=1`],
    ['usage by operation', `GET /admin/v1/usage?${SPAN}&by=operation`],
    ['usage by key', `GET /admin/v1/usage?${SPAN}&by=key`],
    ['usage by account', `GET /admin/v1/usage?${SPAN}&by=account`],
    ['usage of before', 'GET /admin/v1/usage?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z'],
    ['refuse an unknown group', 'GET /admin/v1/usage?by=day'],
    ['refuse an unknown interval', 'GET /admin/v1/usage?interval=week'],
    ['refuse a start after the end', 'GET /admin/v1/usage?from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z'],
    [
      'refuse a long range by the hour',
      'GET /admin/v1/usage?interval=hour&from=2026-09-01T00:00:00Z&to=2026-11-20T00:00:00Z',
    ],
    ['deprecations', 'GET /admin/v1/deprecations'],
    ['the first page of deprecations', { send: 'GET /admin/v1/deprecations?limit=1', save: { next: NEXT } }],
    ['the last page of deprecations', 'GET $next'],
    ['deprecations of the last 30 days', { send: 'GET /admin/v1/deprecations', pass: 31 * 24 * HOUR }],
  ],
};
