import type { Scenario } from '../support/scenario.ts';

const HOUR = 3_600_000;

/** Apart from the others, because these operations are to get rate windows and pages of their own. */
export const ACCOUNT: Scenario = {
  name: 'account',
  keys: { key: { scopes: ['pets:read'] }, bare: { scopes: [] }, other: { account: 'other' } },
  rows: [
    ['the account', 'GET /v1/account'],
    ['the account of a key without scopes', { send: 'GET /v1/account', as: 'bare' }],
    ['head of the account', { send: 'HEAD /v1/account', isTagRandom: true }],
    ['refuse PATCH of the account', { send: 'PATCH /v1/account', body: {} }],
    ['no usage', { send: 'GET /v1/account/usage?to=2026-11-21T00:00:00Z' }],
    ['use an operation', { send: 'GET /v1/pets', times: 3 }],
    ['use it with another key', { send: 'GET /v1/account', as: 'bare' }],
    ['use no operation', 'GET /v1/nothing'],
    ['use one without scope', { send: 'POST /v1/pets', body: {} }],
    [
      'usage by the day',
      { send: 'GET /v1/account/usage?to=2026-11-22T00:00:00Z', restart: true, pass: 24 * HOUR },
    ],
    [
      'usage by the hour',
      'GET /v1/account/usage?interval=hour&from=2026-11-21T00:00:00Z&to=2026-11-22T00:00:00Z',
    ],
    [
      'usage that begins later',
      'GET /v1/account/usage?from=2026-11-21T13:00:00%2B01:00&to=2026-11-22T00:00:00Z&interval=hour',
    ],
    ['usage before', 'GET /v1/account/usage?interval=day&from=2026-11-01T00:00:00Z&to=2026-11-21T00:00:00Z'],
    ['usage of the other account', { send: 'GET /v1/account/usage?to=2026-11-22T00:00:00Z', as: 'other' }],
    ['head of the usage', 'HEAD /v1/account/usage?to=2026-11-22T00:00:00Z'],
    ['refuse an unknown interval', 'GET /v1/account/usage?interval=week'],
    ['refuse a start that is none', 'GET /v1/account/usage?from=yesterday'],
    ['refuse an end that is none', 'GET /v1/account/usage?to=2026-11-21'],
    [
      'refuse a start after the end',
      'GET /v1/account/usage?from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z',
    ],
    [
      'refuse a long range by the hour',
      'GET /v1/account/usage?interval=hour&from=2026-10-01T00:00:00Z&to=2026-11-21T00:00:00Z',
    ],
    [
      'refuse a start before the first hour that is kept',
      'GET /v1/account/usage?interval=hour&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
    ],
    ['refuse a start before the first day that is kept', 'GET /v1/account/usage?from=2020-01-01T00:00:00Z'],
    ['refuse two intervals', 'GET /v1/account/usage?interval=day&interval=day'],
    ['refuse POST of the usage', { send: 'POST /v1/account/usage', body: {} }],
  ],
};
