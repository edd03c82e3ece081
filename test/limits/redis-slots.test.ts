// Which server of a Redis Cluster has which hash slots (docs/design/rate-limits.md).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UnreachableError } from '../../src/limits/redis/fitness.ts';
import { instancesKeys } from '../../src/limits/redis/names.ts';
import {
  findMajority,
  findTakeovers,
  SLOTS,
  slotOf,
  toOwners,
  toSlotRanges,
} from '../../src/limits/redis/slots.ts';

/** A range as a server tells it. */
const range = (from: number, to: number, port: number, host: string | null = '192.0.2.1') =>
  [from, to, [host, port]] as const;

const firstKey = (isThere: (slot: number) => boolean) => instancesKeys('production', isThere).next().value;

test('the hash slot of a key is that of the Redis Cluster specification', () => {
  // Redis says so: CLUSTER KEYSLOT.
  assert.deepEqual(
    ['{123456789}', 'petstore:production:{account 1}:usage', '{address 2001:db8::}'].map(slotOf),
    [12_739, 1_613, 3_737],
  );
});

test('a server with one hash slot has a key for its instances, whichever slot it is', () => {
  for (let slot = 0; slot < SLOTS; slot += 97) {
    const key = firstKey((each) => each === slot);
    assert.equal(key === undefined ? undefined : slotOf(key), slot);
  }
  const missing = new Set(Array.from({ length: SLOTS }, (_, slot) => slot));
  for (const key of instancesKeys('production', (slot) => missing.has(slot))) missing.delete(slotOf(key));
  assert.equal(missing.size, 0);
});

test('a server without hash slots has no key for its instances', () => {
  assert.equal(
    firstKey(() => false),
    undefined,
  );
});

test('slots that move between two keys are looked at again', () => {
  let moved = false;
  const keys = instancesKeys('production', (slot) => slot < SLOTS / 2 === moved);
  const first = keys.next().value;
  moved = true;
  const second = keys.next().value;
  assert.deepEqual(
    [first, second].map((key) => slotOf(String(key)) < SLOTS / 2),
    [false, true],
  );
});

test('a table of hash slots that makes no sense is refused as a whole', () => {
  const tables = {
    'no slots': [],
    'a negative slot': [range(-1, 5, 6379)],
    'a slot beyond the last': [range(0, SLOTS, 6379)],
    'a range that ends before it begins': [range(5, 4, 6379)],
    'half a slot': [range(0.5, 4, 6379)],
    'text for a slot': [range('0' as unknown as number, 4, 6379)],
    'no port': [range(0, 5, 0)],
    'a port beyond the last': [range(0, 5, 65_536)],
    'more ranges than slots': Array.from({ length: SLOTS + 1 }, () => range(0, 5, 6379)),
    'very many servers': Array.from({ length: 1_001 }, (_, slot) => range(slot, slot, 6379 + slot)),
    'one bad range of two': [range(0, 5, 6379), range(6, 7, -1)],
  };
  for (const [what, table] of Object.entries(tables))
    assert.throws(() => toSlotRanges(table, '192.0.2.9'), UnreachableError, what);
});

test('a table with holes has no server for these slots', () => {
  const owners = toOwners(toSlotRanges([range(10, 11, 6379), range(0, 1, 6380, '')], '192.0.2.9'));
  assert.deepEqual(owners.slice(0, 12), [
    '192.0.2.9:6380',
    '192.0.2.9:6380',
    ...Array<string>(8).fill(''),
    '192.0.2.1:6379',
    '192.0.2.1:6379',
  ]);
  assert.equal(owners.length, SLOTS);
});

test('what most servers say of the slots counts, and of equals the first', () => {
  const old = toSlotRanges([range(0, 9, 6379)], '');
  const now = toSlotRanges([range(5, 9, 6380), range(0, 4, 6379)], '');
  const same = toSlotRanges([range(0, 4, 6379), range(5, 9, 6380)], '');
  assert.equal(findMajority([]), undefined);
  assert.equal(findMajority([old]), old);
  assert.equal(findMajority([old, now, same]), now);
  assert.equal(findMajority([now, old]), now);
  assert.equal(findMajority([old, now]), old);
});

test('servers that take slots over are found, with those that had them', () => {
  const former = ['a', 'a', '', 'b', 'c'];
  assert.deepEqual(findTakeovers(former, ['a', 'b', 'b', 'b', 'b']), [
    { from: 'a', to: 'b' },
    { from: '', to: 'b' },
    { from: 'c', to: 'b' },
  ]);
  assert.deepEqual(findTakeovers(former, former), []);
});
