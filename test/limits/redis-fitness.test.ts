// Which servers may count, and which errors only say that none answers. Contract: section 6.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ErrorReply } from '@redis/client';
import { isUnreachable, refuseUnfit } from '../../src/limits/redis/fitness.ts';

/** A reply to INFO of a server that is fit for use, with other values. */
const info = (values: Readonly<Record<string, string>> = {}) =>
  Object.entries({
    redis_version: '7.0.0',
    role: 'master',
    cluster_enabled: '0',
    maxmemory: '1000',
    maxmemory_policy: 'noeviction',
    ...values,
  })
    .map(([field, value]) => `${field}:${value}\r\n`)
    .join('');

test('Redis 7 and later are accepted, Redis 6 and unknown versions are refused', () => {
  for (const version of ['7.0.0', '7.2.4', '8.2.1', '10.0.0'])
    assert.deepEqual(refuseUnfit(info({ redis_version: version })), { clustered: false });
  const valkey = info({ valkey_version: '8.0.1', redis_version: '7.2.4' });
  assert.deepEqual(refuseUnfit(valkey), { clustered: false });
  for (const [version, reply] of [
    ['6.2.14', info({ redis_version: '6.2.14' })],
    ['5.0.0', info({ redis_version: '5.0.0' })],
    ['', info({ redis_version: '' })],
    ['of unknown version', '# Server\r\n'],
  ] as const)
    assert.throws(() => refuseUnfit(reply), {
      name: 'StartupError',
      message: `Redis 7 or Valkey is needed, and this server is Redis ${version}.`,
    });
});

test('a replica is accepted in a cluster only', () => {
  assert.deepEqual(refuseUnfit(info({ role: 'slave', cluster_enabled: '1' })), { clustered: true });
  assert.throws(() => refuseUnfit(info({ role: 'slave' })), {
    message: 'The Redis server is a read-only replica: connect to the primary.',
  });
});

test('a memory limit without eviction is accepted, and so is a policy without a limit', () => {
  refuseUnfit(info());
  refuseUnfit(info({ maxmemory: '0', maxmemory_policy: 'allkeys-lru' }));
  for (const [server, name] of [
    ['', ''],
    [' 192.0.2.1:6379', '192.0.2.1:6379'],
  ] as const)
    assert.throws(() => refuseUnfit(info({ maxmemory_policy: 'volatile-ttl' }), name), {
      message: `The Redis server${server} evicts keys (maxmemory-policy volatile-ttl): counts would be lost; set noeviction.`,
    });
});

test('only errors of the network and of a server that starts are an outage', () => {
  const refused = Object.assign(new Error('refused'), { syscall: 'connect', code: 'ECONNREFUSED' });
  const encrypted = Object.assign(new Error('wrong version number'), { syscall: 'write', code: 'EPROTO' });
  const loading = new ErrorReply('LOADING Redis is loading the dataset in memory');
  for (const error of [refused, loading, new AggregateError([refused, refused])])
    assert.equal(isUnreachable(error), true, error.message);
  for (const error of [
    encrypted,
    new Error('unknown'),
    new ErrorReply('WRONGPASS invalid username-password pair'),
    new ErrorReply("ERR unknown command 'BUSY '"),
    new AggregateError([refused, encrypted]),
  ])
    assert.equal(isUnreachable(error), false, error.message);
});
