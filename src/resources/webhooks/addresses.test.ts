import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseAddress, isPublicAddress, readAddress } from './addresses.ts';

const SPECIAL = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '192.0.0.9',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.175.48.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::8.8.8.8',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '64:ff9b:1::1',
  '100::1',
  '100:0:0:1::1',
  '2001::1',
  '2001:1::1',
  '2001:db8::1',
  '2002:808:808::1',
  '2620:4f:8000::1',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
];

for (const address of SPECIAL)
  test(`${address} is not public`, () => assert.equal(isPublicAddress(address), false));

for (const address of ['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111'])
  test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));

const toAddresses = (...addresses: string[]) =>
  addresses.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }));

test('a name is refused when one of its addresses is private, and allowed with all of them for development', () => {
  const addresses = toAddresses('8.8.8.8', '10.0.0.1');
  assert.deepEqual(chooseAddress(addresses, { allowPrivate: false }), { failure: 'address_not_public' });
  assert.deepEqual(chooseAddress(addresses, { allowPrivate: true }), { address: addresses[0] });
});

test('IPv4 is chosen before IPv6, and a name without addresses is refused', () => {
  const addresses = toAddresses('2606:4700:4700::1111', '8.8.8.8');
  assert.deepEqual(chooseAddress(addresses, { allowPrivate: false }), { address: addresses[1] });
  assert.deepEqual(chooseAddress([], { allowPrivate: true }), { failure: 'name_not_resolved' });
});

for (const host of [
  '127.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  'LOCALHOST',
  'localhost.',
])
  test(`${host} is checked without a look-up`, () => {
    const address = readAddress(new URL(`https://${host}/`).hostname);
    assert.ok(address !== undefined);
    assert.deepEqual(chooseAddress([address], { allowPrivate: false }), { failure: 'address_not_public' });
    assert.deepEqual(chooseAddress([address], { allowPrivate: true }), { address });
  });

test('a name needs a look-up', () => {
  for (const name of ['shop.example', 'localhost.example', 'a-localhost'])
    assert.equal(readAddress(name), undefined);
});
