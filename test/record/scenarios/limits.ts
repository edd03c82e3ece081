import type { Scenario } from '../support/scenario.ts';

const MINUTE = 60_000;

export const LIMITS: Scenario = {
  name: 'limits',
  isAboutLimits: true,
  env: { BAN_AFTER: '4', BAN_SECONDS: '300' },
  keys: {
    key: { limits: { perMinute: 3, perDay: 1_000 } },
    second: {},
    daily: { account: 'daily', limits: { perMinute: 60, perDay: 2 } },
    both: { account: 'both', limits: { perMinute: 1, perDay: 1 } },
    fresh: { account: 'fresh', limits: { perMinute: 9, perDay: 9 } },
    persistent: { account: 'persistent', limits: { perMinute: 1, perDay: 1_000 } },
  },
  rows: [
    ['the first request', 'GET /v1/pets'],
    ['one that is refused counts, too', 'GET /v1/nothing'],
    ['not modified counts, too', { send: 'GET /v1/pets', headers: { 'If-None-Match': '*' } }],
    ['the minute is used up', 'GET /v1/pets'],
    ['for another key of the account, too', { send: 'POST /v1/pets', as: 'second', body: {} }],
    ['for HEAD, too', { send: 'HEAD /v1/pets', as: 'second' }],
    ['but not for OPTIONS', { send: 'OPTIONS /v1/pets' }],
    ['half-way to a ban', 'GET /v1/pets'],
    ['one more refusal', 'GET /v1/pets/1'],
    ['before the ban', 'GET /v1/pets'],
    ['the key is banned', 'GET /v1/pets'],
    ['still, for an unknown path', 'GET /v1/nothing'],
    ['the other key is not banned', { send: 'GET /v1/pets', as: 'second' }],
    [
      'a minute later the other key works',
      { send: 'GET /v1/pets', as: 'second', pass: MINUTE, only: 'sqlite' },
    ],
    ['the banned key does not', { send: 'GET /v1/pets', only: 'sqlite' }],
    ['the account shows the ban', { send: 'GET /v1/account', as: 'second', only: 'sqlite' }],
    ['after the ban it does', { send: 'GET /v1/pets', pass: 4 * MINUTE + 1_000, only: 'sqlite' }],

    ['the first of two of a day', { send: 'GET /v1/pets', as: 'daily' }],
    ['the second of two of a day', { send: 'GET /v1/pets', as: 'daily' }],
    ['the day is used up', { send: 'GET /v1/pets', as: 'daily' }],
    ['the only one', { send: 'GET /v1/pets', as: 'both' }],
    ['both windows are used up', { send: 'GET /v1/pets', as: 'both' }],
    ['the next day', { send: 'GET /v1/pets', as: 'both', pass: 24 * 60 * MINUTE, only: 'sqlite' }],

    ['one of a persistent client', { send: 'GET /v1/pets', as: 'persistent', only: 'sqlite' }],
    ['banned for the first time', { send: 'GET /v1/pets', as: 'persistent', times: 5, only: 'sqlite' }],
    ['admitted again', { send: 'GET /v1/pets', as: 'persistent', pass: 5 * MINUTE + 1_000, only: 'sqlite' }],
    ['banned for twice as long', { send: 'GET /v1/pets', as: 'persistent', times: 5, only: 'sqlite' }],

    ['the bucket of an address', { send: 'GET /v1/pets', as: null }],
    ['its last request', { send: 'GET /v1/pets', as: null, times: 59 }],
    ['the bucket is empty', { send: 'GET /v1/pets', as: null }],
    ['also for a malformed key', { send: 'GET /v1/pets', as: null, headers: { Authorization: 'Bearer x' } }],
    ['a refusal of the HTTP layer shows it', { raw: 'NONSENSE\r\n\r\n' }],
    ['it refuses no valid key', { send: 'GET /v1/pets', as: 'fresh' }],
    ['it is no concern of a page', { send: 'GET /healthz', as: null }],
    ['a minute later it is full', { send: 'GET /v1/pets', as: null, pass: MINUTE, only: 'sqlite' }],
  ],
};
