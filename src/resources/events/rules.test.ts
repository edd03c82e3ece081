// Contract: section 13.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../domain/scope.ts';
import {
  chooseTypes,
  EVENT_TYPE_NAMES,
  isOfStreams,
  type StoredStream,
  TYPE_FILTERS,
  type Viewer,
  visibleStreams,
} from './rules.ts';

const VIEWER: Viewer = { accountId: 7, environment: 'staging', scopes: [] };

const CATALOGUE = { accountId: 0, environment: '' } as const;
const ACCOUNT = { accountId: 7, environment: '' } as const;
const ENVIRONMENT = { accountId: 7, environment: 'staging' } as const;

const VISIBLE = [
  {
    scope: 'pets:read',
    owner: CATALOGUE,
    types: [
      'pet.created',
      'pet.updated',
      'pet.deleted',
      'category.created',
      'category.updated',
      'category.deleted',
    ],
  },
  {
    scope: 'store:read',
    owner: ACCOUNT,
    types: ['order.created', 'order.completed', 'order.cancelled', 'order.expired'],
  },
  { scope: undefined, owner: ENVIRONMENT, types: ['limit.warning', 'limit.reached'] },
  {
    scope: 'keys:manage',
    owner: ENVIRONMENT,
    types: ['key.created', 'key.rotated', 'key.revoked', 'key.banned', 'key.expiring'],
  },
  { scope: 'webhooks:manage', owner: ENVIRONMENT, types: ['webhook.disabled'] },
] as const satisfies readonly { scope: Scope | undefined; [name: string]: unknown }[];

for (const { scope, owner, types } of VISIBLE)
  test(`${types[0]} is seen with ${scope ?? 'any scope'}, by whom it belongs to`, () => {
    const streams = visibleStreams({ ...VIEWER, scopes: scope === undefined ? [] : [scope] });
    const seen = streams.filter(({ type }) => scope === undefined || !type.startsWith('limit.'));
    assert.deepEqual(
      seen.map(({ type }) => type),
      types,
    );
    for (const { accountId, environment } of seen) assert.deepEqual({ accountId, environment }, owner);
  });

test('a filter chooses a type, the types of a kind of thing, or all', () => {
  assert.deepEqual(chooseTypes(['*']), EVENT_TYPE_NAMES);
  assert.deepEqual(chooseTypes(['pet.*', 'order.created']), [
    'pet.created',
    'pet.updated',
    'pet.deleted',
    'order.created',
  ]);
  assert.deepEqual(chooseTypes([]), []);
  const scopes = ['pets:read', 'store:read'] as const;
  assert.deepEqual(visibleStreams({ ...VIEWER, scopes }, ['order.expired', 'key.*']), [
    { ...ACCOUNT, type: 'order.expired' },
  ]);
});

test('the filters are all, each kind of thing once, and each type', () => {
  const kinds = ['pet.*', 'category.*', 'order.*', 'limit.*', 'key.*', 'webhook.*'];
  assert.deepEqual(TYPE_FILTERS, ['*', ...kinds, ...EVENT_TYPE_NAMES]);
});

test('an event is of a stream if type, account and environment are the same', () => {
  const event: StoredStream = { ...ENVIRONMENT, type: 'key.banned' };
  const streams = visibleStreams({ ...VIEWER, scopes: ['keys:manage'] });
  assert.equal(isOfStreams(event, streams), true);
  for (const other of [{ type: 'key.later' }, { accountId: 8 }, { environment: 'production' }] as const)
    assert.equal(isOfStreams({ ...event, ...other }, streams), false);
  assert.equal(isOfStreams(event, []), false);
});
