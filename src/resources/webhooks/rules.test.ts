import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  areFormerChoices,
  checkUrl,
  chooseStreams,
  findDisabling,
  isMeantFor,
  isOwnEnd,
  LISTEN,
  MAX_ATTEMPTS,
  newWebhookSecret,
  REPLAY_INTERVAL,
  REPLAYED,
  retryDelay,
  signingSecrets,
  writeUrl,
} from './rules.ts';

const REFUSED = [
  ['http://shop.example', `must begin with https://. ${LISTEN}`],
  ['ftp://shop.example', `must begin with https://. ${LISTEN}`],
  ['shop', 'must be an absolute URL'],
  ['mailto:ada@shop.example', `must begin with https://. ${LISTEN}`],
  ['https://a:b@shop.example', 'must have no user name and no password'],
  ['https://shop.example/#', 'must have no fragment (#)'],
  ['https://shop.example:25', 'must have the port 443, or one from 1024 to 65535'],
  ['https://shop.example:6667', 'must not have the port 6667, which belongs to another protocol'],
  [`https://shop.example/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
] as const;

for (const [text, message] of REFUSED)
  test(`${text.slice(0, 40)} ${message}`, () =>
    assert.deepEqual(checkUrl(text, { allowPrivate: false }), { error: 'invalid_request', message }));

test('an endpoint may have any public port, a path and a query, and be private only in development', () => {
  const port = (number: number) => `https://shop.example:${number}/`;
  for (const right of [
    'https://shop.example',
    'https://shop.example/a?b=c',
    ...[443, 1_024, 65_535].map(port),
  ])
    assert.deepEqual(checkUrl(right, { allowPrivate: false }), { value: new URL(right) });
  for (const number of [1, 80, 1_023, 1_719, 10_080])
    assert.equal('error' in checkUrl(port(number), { allowPrivate: false }), true, `${number}`);
  for (const right of ['http://localhost', 'http://localhost:25', 'https://localhost:6667'])
    assert.deepEqual(checkUrl(right, { allowPrivate: true }), { value: new URL(right) });
  for (const wrong of ['ftp://localhost', 'https://:b@shop.example', 'https://a@shop.example'])
    assert.equal('error' in checkUrl(wrong, { allowPrivate: true }), true, wrong);
  const longest = `https://shop.example/${'a'.repeat(2_048 - 21)}`;
  assert.deepEqual(checkUrl(longest, { allowPrivate: false }), { value: new URL(longest) });
});

test('a URL is stored as a URI, and a text that is none stays', () => {
  assert.equal(
    writeUrl('HTTPS://Shop.Example/a b/%zz?q="|"#'),
    'https://shop.example/a%20b/%25zz?q=%22%7C%22#',
  );
  assert.equal(writeUrl('https://shop.example/%41?a=[1]'), 'https://shop.example/%41?a=%5B1%5D');
  assert.equal(writeUrl('https://[::1]:8443/ä'), 'https://[::1]:8443/%C3%A4');
  assert.equal(writeUrl('https://shop.example/%4z'), 'https://shop.example/%254z');
  assert.equal(writeUrl('no url'), 'no url');
});

test('retries come after the times of the contract, give or take 20 %', () => {
  const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
  for (const [index, second] of seconds.entries()) {
    assert.equal(retryDelay(index + 1, 0), second * 800);
    assert.equal(retryDelay(index + 1, 0.5), second * 1_000);
  }
  assert.equal(MAX_ATTEMPTS, 8);
  assert.equal(retryDelay(MAX_ATTEMPTS, 0.5), undefined);
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
  assert.equal(findDisabling(failed, 9 * days, 14 * days - 1), undefined);
});

test('an endpoint is not disabled by a success or without a time since which it fails', () => {
  const failed = { status: 'failed', failure: 'status', durationMs: 1 } as const;
  const long = 100 * 86_400_000;
  assert.equal(findDisabling({ status: 'succeeded', httpStatus: 410, durationMs: 1 }, 0, long), undefined);
  assert.equal(findDisabling({ ...failed, httpStatus: 500 }, undefined, long), undefined);
});

test('a secret is 32 bytes, and the one before signs too for a day', () => {
  assert.equal(
    newWebhookSecret((length) => Buffer.alloc(length)),
    `whsec_${'A'.repeat(43)}=`,
  );
  const rotated = { secret: 'new', oldSecret: 'old', rotatedAt: 1_000 };
  assert.deepEqual(signingSecrets(rotated, 1_000 + 86_400_000 - 1), ['new', 'old']);
  assert.deepEqual(signingSecrets(rotated, 1_000 + 86_400_000), ['new']);
  assert.deepEqual(signingSecrets({ secret: 'new' }, 1_000), ['new']);
  assert.deepEqual(signingSecrets({ secret: 'new', rotatedAt: 1_000 }, 1_000), ['new']);
  assert.deepEqual(signingSecrets({ secret: 'new', oldSecret: 'old' }, 1_000), ['new']);
});

test('a stored choice has a place, types and scopes', () => {
  const choice = { to: '12', types: ['*'], scopes: [] };
  for (const right of [[], [choice], [choice, { ...choice, to: '9'.repeat(19), types: ['later.*'] }]])
    assert.equal(areFormerChoices(right), true);
  for (const wrong of [
    undefined,
    choice,
    [{ ...choice, to: '' }],
    [{ ...choice, to: 'x1' }],
    [{ ...choice, to: '1x' }],
    [{ ...choice, to: '9'.repeat(20) }],
    [{ ...choice, types: '*' }],
    [{ ...choice, scopes: '*' }],
    [choice, { ...choice, to: '' }],
  ])
    assert.equal(areFormerChoices(wrong), false, JSON.stringify(wrong));
});

const WEBHOOK = {
  id: 5,
  accountId: 7,
  environment: 'staging',
  scopes: ['pets:read', 'webhooks:manage'],
  types: ['*'],
  formerChoices: [{ to: '12', types: ['order.created', 'pet.created'], scopes: ['store:read', 'pets:read'] }],
} as const;

test('an event is chosen by the types of its time, and by the scopes of its time and of now', () => {
  const before = chooseStreams(WEBHOOK, 11n);
  assert.deepEqual(before, {
    streams: [{ accountId: 0, environment: '', type: 'pet.created' }],
    to: 12n,
  });
  const after = chooseStreams(WEBHOOK, 12n);
  assert.equal(after.to, undefined);
  assert.equal(after.streams.length, 9);
});

test('an endpoint gets its events, but not its own end', () => {
  const created = { accountId: 0, environment: '', type: 'pet.created', id: 12n, data: '{}' } as const;
  const end = {
    accountId: 7,
    environment: 'staging',
    type: 'webhook.disabled',
    data: '{"id":5}',
    id: 13n,
  } as const;
  assert.equal(isMeantFor(WEBHOOK, created), true);
  assert.equal(isMeantFor(WEBHOOK, { ...created, type: 'pet.updated' }), false, 'not chosen at that place');
  assert.equal(isMeantFor(WEBHOOK, { ...created, type: 'pet.updated', id: 13n }), true);
  assert.equal(isMeantFor(WEBHOOK, end), false);
  assert.equal(isMeantFor(WEBHOOK, { ...end, data: '{"id":6}' }), true);
  assert.equal(isOwnEnd(WEBHOOK, { type: 'pet.created', data: '{"id":5}' }), false);
});

test('a webhook is replayed once in ten minutes', () => {
  assert.equal(REPLAY_INTERVAL, 600_000);
  assert.equal(REPLAYED, 'The webhook was replayed within the last 10 minutes: wait.');
});
