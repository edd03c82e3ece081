import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkUrl, findDisabling, retryDelay } from './rules.ts';

const REFUSED = [
  ['http://shop.example', 'must begin with https://'],
  ['ftp://shop.example', 'must begin with https://'],
  ['shop', 'must be an absolute URL'],
  ['https://a:b@shop.example', 'must have no user name and no password'],
  ['https://shop.example/#', 'must have no fragment (#)'],
  ['https://shop.example:25', 'must have the port 443, or one from 1024 to 65535'],
  ['https://shop.example:6667', 'must not have the port 6667, which belongs to another protocol'],
  [`https://shop.example/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
] as const;

for (const [text, message] of REFUSED)
  test(`${text.slice(0, 40)} ${message}`, () =>
    assert.deepEqual(checkUrl(text, { allowPrivate: false }), { error: 'invalid_request', message }));

test('retries come after the times of the contract, give or take 20 %', () => {
  const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
  for (const [index, second] of seconds.entries()) {
    assert.equal(retryDelay(index + 1, 0), second * 800);
    assert.equal(retryDelay(index + 1, 0.5), second * 1_000);
  }
  assert.equal(retryDelay(8, 0.5), undefined);
});

test('Retry-After counts between once and twice the delay', () => {
  assert.deepEqual(
    [1, 7_000, 99_000].map((ms) => retryDelay(1, 0.5, ms)),
    [5_000, 7_000, 10_000],
  );
});

test('410 and five days of failures disable an endpoint', () => {
  const failed = { status: 'failed', failure: 'status', durationMs: 1 } as const;
  const days = 86_400_000;
  assert.equal(findDisabling({ ...failed, httpStatus: 410 }, undefined, 0), 'gone');
  assert.equal(findDisabling(failed, 0, 5 * days), 'failing');
  assert.equal(findDisabling(failed, 0, 5 * days - 1), undefined);
});
