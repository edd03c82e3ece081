// Contract: section 13.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as letOthersRun } from 'node:timers/promises';
import { SCOPES } from '../../domain/scope.ts';
import { DAY } from '../../domain/clock.ts';
import { encodeCursor } from '../../domain/cursor.ts';
import { type Answer, type Asked, assertError, call } from '../../../test/support/api.ts';
import { lifetimeOfFile } from '../../../test/support/lifetime.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { test } from '../../../test/support/test.ts';
import { EVENT_TYPE_NAMES, TYPE_FILTERS } from './rules.ts';

const shared = await startTestService(lifetimeOfFile());
const key = await shared.issueKey({ scopes: SCOPES });

function send(path: string, sent: Asked = {}, service: TestService = shared): Promise<Answer> {
  return call(service.url, `/v1${path}`, { key, ...sent });
}

/** Path and query of the link of an answer, below `/v1`. */
function nextOf({ headers }: Answer): string {
  const [, next] = /^<[^>]*\/v1(\/[^>]*)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
  assert.ok(next !== undefined, `The Link is ${headers.get('link')}.`);
  return next;
}

const PET = '{"name":"Rex","categoryId":7,"status":"available"}';

async function addPet(sent: Asked = {}): Promise<number> {
  return (await send('/pets', { body: PET, ...sent })).json.id as number;
}

test('a page has its Link also when it is empty, no ETag, and nothing may store it', async () => {
  const begin = await send('/events?after=now&type=pet.*&limit=7&wait=0');
  assert.equal(begin.text, '[]');
  assert.equal(begin.headers.get('cache-control'), 'no-store');
  assert.equal(begin.headers.get('etag'), null);
  assert.match(nextOf(begin), /^\/events\?limit=7&type=pet\.\*&wait=0&after=[\w-]+$/);
  const petId = await addPet();
  const page = await send(nextOf(begin));
  const [event] = page.json;
  assert.deepEqual(
    [event.type, event.version, event.data],
    ['pet.created', 1, { id: petId, ...JSON.parse(PET) }],
  );
  assert.match(event.id, /^[0-9a-f]{32}$/);
  assert.equal((await send(nextOf(page))).text, '[]');
});

test('a cursor is valid with any type, and HEAD has the headers of GET', async () => {
  const begin = await send('/events?after=now');
  const petId = await addPet();
  await send('/store/orders', { body: `{"petId":${petId}}` });
  const types = async (type: string) =>
    (await send(`${nextOf(begin)}&type=${type}`)).json.map((event: { type: string }) => event.type);
  assert.deepEqual(await types('order.*'), ['order.created']);
  assert.deepEqual(await types('pet.updated'), ['pet.updated']);
  assert.deepEqual(await types('*'), ['pet.created', 'order.created', 'pet.updated']);
  const head = await send(`${nextOf(begin)}&limit=1`.replace('limit=100&', ''), { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.notEqual(head.headers.get('link'), null);
});

const WRONG: readonly (readonly [title: string, query: string, message: RegExp])[] = [
  ['wait is 31', 'wait=31', /^The parameter wait must be an integer from 0 to 30\.$/],
  ['limit is 0', 'limit=0', /^The parameter limit must be an integer from 1 to 100\.$/],
  ['a type is unknown', 'type=pet.sold', /^The parameter type must be one of \*, pet\.\*, /],
  ['a group is unknown', 'type=dog.*', /^The parameter type must be one of/],
  ['there are 21 types', Array(21).fill('type=pet.*').join('&'), /given at most 20 times\.$/],
  ['after is no cursor', 'after=abc', /^The parameter after must be now, or come from the Link header/],
  ['after is empty', 'after=', /^The parameter after/],
  ['after is the cursor of another list', `after=${encodeCursor(7n)}`, /^The parameter after/],
];

for (const [title, query, message] of WRONG)
  test(`the feed is 400 when ${title}`, async () => {
    const answer = await send(`/events?${query}`);
    assertError(answer, 'invalid_parameter');
    assert.match(answer.json.message, message);
  });

test('a cursor that was cut, of another account or of the future is 400', async () => {
  const cursor = /after=([\w-]+)/.exec(nextOf(await send('/events?after=now')))?.[1] ?? '';
  assertError(await send(`/events?after=${cursor.slice(0, -4)}`), 'invalid_parameter');
  const other = await shared.issueKey({ account: 'other' });
  assertError(await send(`/events?after=${cursor}`, { key: other }), 'invalid_parameter');
  const { feed, last } = await shared.store.events.findBounds();
  const future = encodeCursor(`${feed}.1.${last + 1_000n}`);
  assertError(await send(`/events?after=${future}`), 'invalid_parameter');
});

test('a cursor of another feed is 410, and its Link begins now', async () => {
  const old = encodeCursor('0123456789ab.1.1');
  const answer = await send(`/events?after=${old}&type=pet.*`);
  assertError(answer, 'cursor_expired');
  const petId = await addPet();
  const page = await send(nextOf(answer));
  assert.deepEqual(
    page.json.map((event: { data: { id: number } }) => event.data.id),
    [petId],
  );
});

test('a reader without a cursor begins behind what is about to be deleted, and gets no 410', async (t) => {
  const service = await startTestService(t, { env: { EVENTS_KEEP_DAYS: '7' } });
  const sent = { key: await service.issueKey({ scopes: SCOPES }) };
  const add = () => call(service.url, '/v1/pets', { ...sent, body: PET });
  const ids = ({ json }: Answer) => json.map(({ data }: { data: { id: number } }) => data.id);
  for (let pets = 0; pets < 5; pets++) await add();
  await service.passTime(7 * DAY + 1);
  for (let pets = 0; pets < 3; pets++) await add();
  const first = await send('/events?type=pet.*&limit=1', sent, service);
  await service.store.events.prune(7 * DAY);
  const second = await send(nextOf(first), sent, service);
  const third = await send(nextOf(second), sent, service);
  assert.deepEqual([first, second, third].map(ids), [[6], [7], [8]]);
  assert.deepEqual(ids(await send('/events?type=pet.*', sent, service)), [6, 7, 8]);
});

test('a cursor is 410 once an event after it was deleted, and one behind it goes on', async (t) => {
  const service = await startTestService(t);
  const sent = { key: await service.issueKey({ scopes: SCOPES }) };
  const begin = await send('/events?after=now', sent, service);
  await call(service.url, '/v1/pets', { ...sent, body: PET });
  const read = await send(nextOf(begin), sent, service);
  await service.passTime(31 * DAY);
  await service.store.events.prune(30 * DAY);
  assertError(await send(nextOf(begin), sent, service), 'cursor_expired');
  assert.equal((await send(nextOf(read), sent, service)).text, '[]');
});

test('a key sees only the types that its scopes allow', async () => {
  const only = async (...scopes: readonly (typeof SCOPES)[number][]) => {
    const reader = await shared.issueKey({ scopes: ['events:read', ...scopes] });
    const begin = nextOf(await send('/events?after=now', { key: reader }));
    const petId = await addPet();
    await send('/store/orders', { body: `{"petId":${petId}}` });
    await shared.issueKey();
    const events: { type: string }[] = (await send(begin, { key: reader })).json;
    return [...new Set(events.map(({ type }) => type.split('.')[0]))];
  };
  assert.deepEqual(await only(), []);
  assert.deepEqual(await only('pets:read'), ['pet']);
  assert.deepEqual(await only('store:read'), ['order']);
  assert.deepEqual(await only('keys:manage'), ['key']);
  assertError(
    await send('/events', { key: await shared.issueKey({ scopes: ['pets:read'] }) }),
    'insufficient_scope',
  );
});

test('an empty page waits for an event of its types', async () => {
  const begin = nextOf(await send('/events?after=now&wait=30&type=order.*'));
  const waiting = send(begin);
  const petId = await addPet();
  await send('/store/orders', { body: `{"petId":${petId}}` });
  assert.deepEqual(
    (await waiting).json.map((event: { type: string }) => event.type),
    ['order.created'],
  );
});

test('a wait ends when its key is revoked, and when the service stops', async (t) => {
  const service = await startTestService(t);
  const [stays, ends] = [
    await service.issueKey({ scopes: SCOPES }),
    await service.issueKey({ scopes: SCOPES }),
  ];
  const begin = nextOf(await send('/events?after=now&wait=30&type=pet.*', { key: stays }, service));
  const staying = send(begin, { key: stays }, service);
  const ending = send(begin, { key: ends }, service);
  // Both wait, or will soon: what comes before a wait ends it as well.
  const keys = await service.store.keys.list('production', { limit: 1 });
  await service.store.keys.revoke({ kind: 'system', name: 'test' }, keys.items[0]?.id ?? 0);
  const ended = await ending;
  assert.ok(ended.status === 401 || ended.text === '[]');
  const stopped = service.stop();
  const answer = await staying;
  assert.ok(answer.status === 503 || answer.text === '[]');
  await stopped;
});

test('a wait gives nothing that its key may no longer see', async (t) => {
  const service = await startTestService(t);
  const reader = await service.issueKey({ scopes: ['events:read', 'pets:read'] });
  const begin = nextOf(await send('/events?after=now&wait=30', { key: reader }, service));
  const waits = Array.from({ length: 11 }, () => send(begin, { key: reader }, service));
  // The first answer is that of a reader that did not wait, because ten wait.
  await Promise.race(waits);
  await service.store.keys.setScopes({ kind: 'system', name: 'test' }, 1, ['events:read']);
  await call(service.url, '/v1/pets', { key: await service.issueKey(), body: PET });
  for (const answer of await Promise.all(waits)) assert.equal(answer.text, '[]');
});

test('beyond ten waits of an account, the answer comes without waiting', async (t) => {
  const service = await startTestService(t);
  const sent = { key: await service.issueKey({ scopes: SCOPES }) };
  const begin = nextOf(await send('/events?after=now&wait=30', sent, service));
  const waits = Array.from({ length: 10 }, () => send(begin, sent, service));
  // The first answer is that of a reader that did not wait.
  assert.equal((await Promise.race([...waits, send(begin, sent, service)])).text, '[]');
  await call(service.url, '/v1/pets', { ...sent, body: PET });
  for (const answer of await Promise.all(waits)) assert.equal(answer.status, 200);
});

/** Sends a request for a page, and ends the client's side of the connection or closes it. */
function leave(service: TestService, path: string, sent: Asked, how: 'end' | 'destroy'): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${sent.key}\r\n\r\n`, () =>
    socket[how](),
  );
  return socket;
}

test('a wait ends when its client has left, and another one takes its turn', async (t) => {
  const service = await startTestService(t);
  const sent = { key: await service.issueKey({ scopes: SCOPES }) };
  const begin = nextOf(await send('/events?after=now&wait=30', sent, service));
  for (let count = 1; count < 10; count++) leave(service, begin, sent, 'destroy');
  const last = leave(service, begin, sent, 'end');
  const answered = once(last, 'data') as Promise<[Buffer]>;
  // The service hears of those that left before it answers these.
  for (let count = 0; count < 10; count++) await send('/pets', sent, service);
  const waiting = send(begin, sent, service);
  for (let count = 0; count < 10; count++) await send('/pets', sent, service);
  await call(service.url, '/v1/pets', { ...sent, body: PET });
  assert.equal((await waiting).json.length, 1);
  const [chunk] = await answered;
  assert.match(chunk.toString(), /\r\n\r\n\[\]$/);
});

test('the filters are every type, every group and *', () => {
  assert.equal(TYPE_FILTERS.length, EVENT_TYPE_NAMES.length + 7);
});

test('an account is warned at four fifths of its day and told when all is used, once, also after a raise', async (t) => {
  const service = await startTestService(t);
  const limits = { perMinute: 1_000, perDay: 10 };
  const sent = { key: await service.issueKey({ account: 'small', limits, scopes: SCOPES }) };
  const reader = { key: await service.issueKey({ account: 'small', limits, scopes: SCOPES }) };
  for (let request = 0; request < 12; request++) await send('/pets', sent, service);
  const accounts = await service.store.accounts.list({ limit: 1 });
  const account = accounts.items[0];
  assert.ok(account !== undefined);
  const read = async () => {
    const streams = [
      { accountId: account.id, environment: 'production', type: 'limit.warning' } as const,
      { accountId: account.id, environment: 'production', type: 'limit.reached' } as const,
    ];
    return (await service.store.events.list({ streams, after: 0n, limit: 100 })).items;
  };
  let events = await read();
  while (events.length < 2) {
    await letOthersRun();
    events = await read();
  }
  assert.deepEqual(
    events.map(({ type, data }) => [type, JSON.parse(data).limit, JSON.parse(data).used]),
    [
      ['limit.warning', 10, 8],
      ['limit.reached', 10, 10],
    ],
  );
  assert.notEqual(reader.key, sent.key);
});

test('no event reaches 20 kB, however long the fields of a thing are', async (t) => {
  const service = await startTestService(t, { env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } });
  const sent = { key: await service.issueKey({ scopes: SCOPES, label: '"'.repeat(100) }) };
  // Six bytes of JSON for a character.
  const longest = (length: number) => '\u0001'.repeat(length);
  const post = async (path: string, body: object) => {
    const answer = await send(path, { ...sent, body: JSON.stringify(body) }, service);
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  };
  const begin = nextOf(await send('/events?after=now', sent, service));
  const categoryId = Number.MIN_SAFE_INTEGER;
  await post('/pets', { name: longest(200), categoryId, status: 'available' });
  await post('/categories', { name: longest(100), description: longest(1_000) });
  const url = `http://127.0.0.1/${'a'.repeat(2_048 - 'http://127.0.0.1/'.length)}`;
  const types = EVENT_TYPE_NAMES.slice(0, 20);
  const { id } = await post('/webhooks', { url, types, description: longest(200) });
  await send(`/webhooks/${id}`, { ...sent, method: 'PATCH', body: '{"enabled":false}' }, service);
  const { json } = await send(begin, sent, service);
  assert.deepEqual(
    json.map((event: { type: string }) => event.type),
    ['pet.created', 'category.created', 'webhook.disabled'],
  );
  for (const event of json) assert.ok(JSON.stringify(event).length < 20_000);
});
