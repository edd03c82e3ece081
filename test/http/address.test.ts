// Contract: section 6.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { clientAddress, network } from '../../src/http/address.ts';
import { assertError, assertRateHeaders, call } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const from = (address: string) => ({ 'x-forwarded-for': address });
const remaining = (headers: Headers) => Number(headers.get('x-ratelimit-remaining'));

test('a caller without a valid key uses the Free bucket of its address: 401, then 429', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  for (let used = 1; used <= 60; used++) {
    const answer = await call(service.url, '/v1/pets');
    assertError(answer, 'unauthorized');
    assert.equal(answer.headers.get('x-ratelimit-limit'), '60');
    assert.equal(remaining(answer.headers), 60 - used);
  }
  const refused = await call(service.url, '/v1/pets');
  assertError(refused, 'rate_limit_exceeded');
  assert.equal(refused.headers.get('retry-after'), '60');
  assert.equal(refused.headers.get('www-authenticate'), null);
  assert.equal(
    (await call(service.url, '/v1/pets', { key })).status,
    200,
    'a valid key from there is not touched',
  );
  assert.equal(
    remaining((await call(service.url, '/v1/pets', { method: 'OPTIONS' })).headers),
    0,
    'uncounted',
  );
  service.clock.advance(60_000);
  assertError(await call(service.url, '/v1/pets'), 'unauthorized');
});

test('an address is never banned, and has 1,000 requests a day', async (t) => {
  const service = await startTestService(t, { env: { BAN_AFTER: '2' } });
  for (let minute = 0; minute < 16; minute++) {
    for (let i = 0; i < 60; i++) await call(service.url, '/v1/pets');
    assertError(await call(service.url, '/v1/pets'), 'rate_limit_exceeded');
    service.clock.advance(60_000);
  }
  for (let i = 0; i < 40; i++) assertError(await call(service.url, '/v1/pets'), 'unauthorized');
  assertError(await call(service.url, '/v1/pets'), 'daily_limit_exceeded');
});

test('requests with a valid key take nothing from the bucket of the address', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  for (let i = 0; i < 5; i++) await call(service.url, '/v1/pets', { key });
  assert.equal(remaining((await call(service.url, '/v1/pets')).headers), 59);
});

test('X-Forwarded-For counts only from the proxies of TRUST_PROXY', async (t) => {
  const trusting = await startTestService(t, { env: { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' } });
  const deaf = await startTestService(t);
  const left = async (url: string, address: string) => {
    return remaining((await call(url, '/v1/pets', { headers: from(address) })).headers);
  };
  assert.deepEqual([await left(deaf.url, '192.0.2.1'), await left(deaf.url, '192.0.2.2')], [59, 58]);
  assert.equal(await left(trusting.url, '192.0.2.1'), 59);
  assert.equal(await left(trusting.url, '192.0.2.2'), 59);
  assert.equal(await left(trusting.url, '192.0.2.1, 10.1.2.3'), 58, 'through a second proxy');
  assert.equal(
    await left(trusting.url, '198.51.100.7, 192.0.2.1'),
    57,
    'what a client claims is not believed',
  );
  assert.equal(await left(trusting.url, '::ffff:192.0.2.1'), 56);
  assert.equal(await left(trusting.url, '::ffff:c000:201'), 55, 'mapped in hexadecimal');
  assert.equal(await left(trusting.url, '0:0:0:0:0:FFFF:C000:0201'), 54, 'mapped and written out');
  assert.equal(await left(trusting.url, 'nonsense'), 59, 'the proxy itself');
});

test('an IPv6 client is its /64', async (t) => {
  const service = await startTestService(t, { env: { TRUST_PROXY: '127.0.0.1' } });
  const left = async (address: string) => {
    return remaining((await call(service.url, '/v1/pets', { headers: from(address) })).headers);
  };
  assert.equal(await left('2001:db8:1:2::1'), 59);
  assert.equal(await left('2001:0DB8:1:2:ffff:ffff:ffff:ffff'), 58);
  assert.equal(await left('2001:db8:1:2:0:0:192.0.2.1'), 57);
  assert.equal(await left('2001:db8:1:3::1'), 59);
});

/** The address of the connection, `X-Forwarded-For`, and the client. */
const CLIENTS: readonly (readonly [
  remote: string | undefined,
  forwardedFor: string | undefined,
  client: string,
])[] = [
  ['127.0.0.1', undefined, '127.0.0.1'],
  ['127.0.0.1', '192.0.2.10:8080', '192.0.2.10'],
  ['127.0.0.1', '192.168.250.104:65535', '192.168.250.104'],
  ['127.0.0.1', '192.0.2.10:', '127.0.0.1'],
  ['127.0.0.1', 'a192.0.2.10:80', '127.0.0.1'],
  ['127.0.0.1', '192.0.2.10:80a', '127.0.0.1'],
  ['127.0.0.1', '[2001:db8:0:1::1]:443', '2001:db8:0:1::/64'],
  ['127.0.0.1', '[2001:db8:0:1::1]', '2001:db8:0:1::/64'],
  ['127.0.0.1', '[2001:db8:0:1::1]:', '127.0.0.1'],
  ['127.0.0.1', '[2001:db8:0:1::1]:44a', '127.0.0.1'],
  ['127.0.0.1', 'a[2001:db8:0:1::1]', '127.0.0.1'],
  ['127.0.0.1', 'fe80:0:1::2%eth0', 'fe80:0:1:0::/64'],
  ['127.0.0.1', '::1', '0:0:0:0::/64'],
  ['127.0.0.1', '1::', '1:0:0:0::/64'],
  ['127.0.0.1', '1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
  ['127.0.0.1', '1:2:3:4:5:6::', '1:2:3:4::/64'],
  ['127.0.0.1', '1::5:6:7:8', '1:0:0:0::/64'],
  ['127.0.0.1', '1::4:5:6:7:8', '1:0:0:4::/64'],
  ['127.0.0.1', '::ffff:192.0.2.1', '192.0.2.1'],
  ['127.0.0.1', '1::ffff:192.0.2.1', '1:0:0:0::/64'],
  ['127.0.0.1', '192.0.2.1, 127.0.0.5', '192.0.2.1'],
  ['127.0.0.1', '192.0.2.1,fd00::1', '192.0.2.1'],
  ['127.0.0.1', '192.0.2.1, 192.0.2.2', '192.0.2.2'],
  ['127.0.0.1', '127.0.0.8, 127.0.0.9', '127.0.0.8'],
  ['127.0.0.1', 'nonsense, 127.0.0.5', '127.0.0.5'],
  ['127.0.0.1', ',192.0.2.1', '192.0.2.1'],
  ['::ffff:127.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['fd00::2', '192.0.2.1', '192.0.2.1'],
  ['192.0.2.9', '192.0.2.1', '192.0.2.9'],
  ['2001:db8::1', '192.0.2.1', '2001:db8:0:0::/64'],
  [undefined, undefined, ''],
];

test('the address of a client has one spelling, whatever names it', () => {
  const addressOf = clientAddress([
    { address: '127.0.0.0', prefix: 8, family: 'ipv4' },
    { address: 'fd00::', prefix: 8, family: 'ipv6' },
  ]);
  for (const [remoteAddress, forwardedFor, client] of CLIENTS) {
    const request = {
      socket: { remoteAddress },
      headers: forwardedFor === undefined ? {} : from(forwardedFor),
    } as unknown as Parameters<typeof addressOf>[0];
    for (let times = 0; times < 2; times++)
      assert.equal(addressOf(request), client, `${remoteAddress} ${forwardedFor}`);
  }
  for (const [remote, expected] of [
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2::3', '2001:db8:1:2::/64'],
  ] as const)
    assert.equal(network(remote), expected);
});

test('a 401 carries all rate headers', async (t) => {
  const service = await startTestService(t);
  assertRateHeaders(await call(service.url, '/v1/pets'));
});

test('an address that is kept does not hold the header that it was in', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--input-type=module',
    '--eval',
    `import { clientAddress } from '${new URL('../../src/http/address.ts', import.meta.url).href}';
    const addressOf = clientAddress([{ address: '127.0.0.0', prefix: 8, family: 'ipv4' }]);
    const addresses = [];
    for (let index = 0; index < 5_000; index++) {
      const forwardedFor = Buffer.from('x'.repeat(15_000) + ', 203.0.113.1' + (index % 90 + 10));
      const headers = { 'x-forwarded-for': forwardedFor.toString('latin1') };
      addresses.push(addressOf({ socket: { remoteAddress: '127.0.0.1' }, headers }));
    }
    gc();
    console.log(addresses[0], process.memoryUsage().heapUsed);`,
  ]);
  const [address, bytes] = stdout.split(' ');
  assert.equal(address, '203.0.113.110');
  // The headers have 75 MB.
  assert.ok(Number(bytes) < 40_000_000, stdout);
});
