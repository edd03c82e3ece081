// Contract: sections 3 and 4.
import assert from 'node:assert/strict';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { test, type TestContext } from 'node:test';
import { OPERATIONS } from '../../src/resources/operations.ts';
import type { Operation } from '../../src/http/operation.ts';
import { GET_PET_DEPRECATION } from '../../src/resources/pets/operations.ts';
import { EVENT_TYPE_NAMES } from '../../src/resources/events/rules.ts';
import { INT64_MIN } from '../../src/domain/int64.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { HOLDER_LIMITS } from '../../src/domain/plan.ts';
import { callerName } from '../../src/limits/limiter.ts';

import { openApi } from '../../src/description/openapi.ts';
import { type Answer, type Asked, call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { EXAMPLE_ENDPOINT, exampleDatabase } from '../support/example-database.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { type ServiceOptions, startTestService, type TestService } from '../support/service.ts';
import { findAccount } from '../support/store.ts';

const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

/** What HTTP itself puts on a response, and which headers are there only when there is something to say. */
const BY_HTTP = new Set(['connection', 'content-length', 'content-type', 'date', 'transfer-encoding']);
const SOMETIMES = new Set(['Idempotent-Replay', 'Access-Control-Allow-Origin']);
/** A 409 says how long to wait only while a request with the same `Idempotency-Key` is in flight. */
const isSometimes = (name: string, status: number) =>
  SOMETIMES.has(name) || (name === 'Retry-After' && status === 409);

/** No test looks up a name of the internet. */
const EXAMPLE_URL = 'https://shop.example/petstore';

const REX = '{"name":"Rex","categoryId":7}';
/** The headers of an answer are those described, and the body of a refusal is the example but for its numbers. */
function assertDescribed(id: string, answer: Answer): void {
  const described = operations.find(({ operationId }) => operationId === id)?.responses[answer.status];
  assert.ok(described !== undefined, `${id} ${answer.status} ${answer.text}`);
  const named = Object.keys(described.headers).filter((name) => !isSometimes(name, answer.status));
  const expected = named.map((name) => name.toLowerCase());
  const sent = [...answer.headers.keys()].filter((name) => !BY_HTTP.has(name));
  assert.deepEqual(sent.toSorted(), expected.toSorted(), `${id} ${answer.status}`);
  if (answer.status < 400) return;
  const example = described.content?.['application/json'].examples[answer.json.code]?.value;
  assert.equal(masked(answer.text), masked(JSON.stringify(example)));
}

/** Limits and waits differ from case to case. */
function masked(text: string): string {
  return text.replace(/\d+/g, '#');
}

function operationOf(id: string): Pick<Operation, 'method' | 'path' | 'parameters' | 'body'> {
  return OPERATIONS.find((each) => each.id === id) ?? assert.fail(`no operation ${id}`);
}

/** Calls an operation with its examples. A list has a second page. */
async function probe(service: TestService, id: string, asked: Asked): Promise<Answer> {
  const { method, path, parameters, body } = operationOf(id);
  const [example] = Object.values(body?.examples ?? {});
  const sent = example && { body: JSON.stringify(example.value).replace(EXAMPLE_URL, EXAMPLE_ENDPOINT) };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parameters[name]?.example));
  // Also the shortest list has a second page.
  const query = 'limit' in parameters && id !== 'getUsage' ? '?limit=1' : '';
  return await call(service.url, `/v1${filled}${query}`, { method, ...sent, ...asked });
}

/** The holder of an account has used up the minute, or the day with the minute, before its first request here. */
async function useUpHolder({ store, clock }: TestService, account: string, dayCount: number): Promise<void> {
  const { id } = (await findAccount(store.accounts, account)) ?? assert.fail();
  const { unix } = clock();
  const counts = {
    minuteStart: unix,
    minuteCount: HOLDER_LIMITS.perMinute,
    day: Math.floor(unix / DAY),
    dayCount,
  };
  await store.limits.writeCounts(
    new Map([[callerName({ kind: 'holder', accountId: id, limits: HOLDER_LIMITS }), counts]]),
  );
}

const database = await exampleDatabase(lifetimeOfFile());

/** A service in which every list has a second page. */
async function startWithPages(t: TestContext, options: ServiceOptions = {}): Promise<TestService> {
  const service = await database.start(t, options);
  const hour = Math.floor(service.clock().unix / HOUR);
  const counts = Array.from({ length: 29 * 40 }, (_, index) => ({
    hour: hour - 24 * (index % 29),
    keyId: 1,
    operation: 'a'.repeat(1 + Math.floor(index / 29)),
    counts: [1, 0, 0, 0] as const,
  }));
  await service.store.usageHistory.add({ writer: 'example', sequence: 1, counts });
  return service;
}

test('success, 401, 403 and 429 of every operation match the description', async (t) => {
  const { key } = database;
  for (const { id, scope, allowance } of OPERATIONS) {
    const service = await startWithPages(t, { env: { BAN_AFTER: '3' } });
    const success = await probe(service, id, { key });
    assert.ok(success.status < 300, `${id} ${success.text}`);
    assertDescribed(id, success);
    const unknown = await probe(service, id, {});
    assert.equal(unknown.status, 401, id);
    assertDescribed(id, unknown);
    const lacksWrite = scope === 'pets:write';
    const scopes = SCOPES.filter((each) => each !== scope && !(lacksWrite && each === 'pets:manage'));
    const lacking = await probe(service, id, { key: await service.issueKey({ scopes }) });
    if (scope !== undefined) assert.equal(lacking.status, 403, id);
    assertDescribed(id, lacking);

    const minute = { perMinute: 1, perDay: 9 };
    const limited = await service.issueKey({ account: `${id} minute`, limits: minute });
    if (allowance === 'holder') await useUpHolder(service, `${id} minute`, HOLDER_LIMITS.perMinute);
    const codes = new Set<string>();
    for (let count = 0; count < 5; count++) {
      const answer = await probe(service, id, { key: limited });
      if (answer.status !== 429) continue;
      codes.add(answer.json.code);
      // From half-way to a ban on the message says more than the example.
      if (!answer.text.includes('is banned.')) assertDescribed(id, answer);
    }
    const expected = allowance === 'holder' ? [] : ['key_banned'];
    assert.deepEqual([...codes], ['rate_limit_exceeded', ...expected]);

    const daily = await service.issueKey({ account: `${id} day`, limits: { perMinute: 9, perDay: 1 } });
    if (allowance === 'holder') await useUpHolder(service, `${id} day`, HOLDER_LIMITS.perDay);
    await probe(service, id, { key: daily });
    const refused = await probe(service, id, { key: daily });
    assert.equal(refused.json.code, 'daily_limit_exceeded');
    assertDescribed(id, refused);
    await service.stop();
  }
});

test('no Link is longer than described, whatever the request holds', async (t) => {
  const { key } = database;
  const service = await startWithPages(t);
  const { paths } = openApi({ production: `${service.url}/v1` }, `${service.url}/v1`).document;
  const ids = [1, 2, ...Array.from({ length: 98 }, () => `${INT64_MIN}`)].map((id) => `id=${id}`);
  const types = EVENT_TYPE_NAMES.toSorted((one, other) => other.length - one.length).slice(0, 20);
  const queries = {
    '/pets': `limit=1&${ids.join('&')}`,
    '/events': `limit=100&wait=0&${types.map((type) => `type=${type}`).join('&')}`,
    '/account/usage': `limit=1&interval=hour&by=operation&from=2026-11-01T00:00:00%2B00:00`,
  };
  for (const [path, query] of Object.entries(queries)) {
    const { status, text, headers } = await call(service.url, `/v1${path}?${query}`, { key });
    assert.equal(status, 200, text);
    const link = headers.get('link') ?? '';
    const described = paths[path]?.['get']?.responses['200']?.headers['Link'] as {
      schema: { maxLength: number };
    };
    assert.ok(
      link.length > query.length && link.length <= described.schema.maxLength,
      `${path}: ${link.length}`,
    );
  }
});

test('a 304 matches the description', async (t) => {
  const { key } = database;
  const service = await startWithPages(t);
  for (const { id, method, answer: declared } of OPERATIONS) {
    if (method !== 'GET' || declared.noStore) continue;
    const answer = await probe(service, id, { key, headers: { 'if-none-match': '*' } });
    assert.equal(answer.status, 304);
    assertDescribed(id, answer);
  }
});

test('the refusals of single operations match the description', async (t) => {
  const { key } = database;
  const service = await database.start(t);
  const idempotent = { 'idempotency-key': 'once' };
  assert.equal((await probe(service, 'createPet', { key, headers: idempotent })).status, 201);
  const refusals: [string, number, Answer][] = [
    ['listPets', 400, await call(service.url, '/v1/pets?limit=101', { key })],
    ['getPet', 404, await call(service.url, '/v1/pets/999', { key })],
    ['createPet', 400, await probe(service, 'createPet', { key, body: '{"name":"Rex"}' })],
    ['createPet', 400, await probe(service, 'createPet', { key, headers: { 'idempotency-key': ' ' } })],
    ['createPet', 413, await probe(service, 'createPet', { key, body: ' '.repeat(70_000) })],
    ['createPet', 415, await probe(service, 'createPet', { key, headers: { 'content-type': 'text/plain' } })],
    ['createPet', 422, await probe(service, 'createPet', { key, headers: idempotent, body: `${REX} ` })],
    ...(await refusedChanges(service)),
  ];
  for (const [id, status, answer] of refusals) {
    assert.equal(answer.status, status, answer.text);
    assertDescribed(id, answer);
  }
});

/** Animal 44 has order 1, which is open. */
async function refusedChanges(service: TestService): Promise<[string, number, Answer][]> {
  const { key } = database;
  const stale = { headers: { 'if-match': '"other"' } };
  const send = (method: string, path: string, asked: Asked = {}) =>
    call(service.url, `/v1${path}`, { key, method, ...asked });
  const complete = await send('POST', '/store/orders/2/complete');
  assert.equal(complete.status, 200);
  return [
    ['updatePet', 400, await send('PATCH', '/pets/42', { body: '[]' })],
    ['updatePet', 404, await send('PATCH', '/pets/999', { body: '{}' })],
    ['updatePet', 409, await send('PATCH', '/pets/44', { body: '{"status":"sold"}' })],
    ['updatePet', 412, await send('PATCH', '/pets/42', { body: '{}', ...stale })],
    ['updatePet', 413, await send('PATCH', '/pets/42', { body: ' '.repeat(70_000) })],
    ['updatePet', 415, await probe(service, 'updatePet', { key, headers: { 'content-type': 'text/plain' } })],
    ['deletePet', 400, await send('DELETE', '/pets/42', { body: '{}' })],
    ['deletePet', 404, await send('DELETE', '/pets/999')],
    ['deletePet', 409, await send('DELETE', '/pets/44')],
    ['deletePet', 412, await send('DELETE', '/pets/42', stale)],
    ['createCategory', 409, await send('POST', '/categories', { body: '{"name":"name 7"}' })],
    ['updateCategory', 409, await send('PATCH', '/categories/7', { body: '{"name":"NAME 8"}' })],
    ['updateCategory', 412, await send('PATCH', '/categories/7', { body: '{}', ...stale })],
    ['createOrder', 409, await send('POST', '/store/orders', { body: '{"petId":44}' })],
    ['completeOrder', 409, await send('POST', '/store/orders/2/complete')],
    ['cancelOrder', 409, await send('DELETE', '/store/orders/2')],
    ['getUsage', 400, await send('GET', '/account/usage?from=')],
    ['createKey', 400, await send('POST', '/account/keys', { body: '[]' })],
    ['rotateKey', 201, await send('POST', '/account/keys/6/rotate', { body: '{}' })],
    ['rotateKey', 409, await send('POST', '/account/keys/6/rotate', { body: '{}' })],
    ['rotateKey', 404, await send('POST', '/account/keys/999/rotate', { body: '{}' })],
    ['revokeKey', 404, await send('DELETE', '/account/keys/999')],
    ['revokeKey', 412, await send('DELETE', '/account/keys/6', stale)],
  ];
}

test('after its removal getPet answers as described', async (t) => {
  const service = await startTestService(t, { clock: fakeClock(GET_PET_DEPRECATION.removal) });
  const answer = await probe(service, 'getPet', { key: await service.issueKey() });
  assert.equal(answer.status, 410);
  assertDescribed('getPet', answer);
});
