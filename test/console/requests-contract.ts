// Contract: section 10.2.
import { HOUR } from '../../src/domain/clock.ts';
import assert from 'node:assert/strict';
import { OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { GET_PET_DEPRECATION } from '../../src/resources/pets/operations.ts';
import { encodeCursor } from '../../src/domain/cursor.ts';
import { INT64_MAX } from '../../src/domain/int64.ts';

import { type Asked, assertError, call } from '../support/api.ts';
import { adminOf, consoleOf } from '../support/console.ts';
import type { StartService } from '../support/service.ts';
import { test } from '../support/test.ts';

/** The admin API on requests: overview, usage, deprecations and failed requests, over any stores. */
export function requestsContract(name: string, startService: StartService): void {
  const start = async (t: Parameters<StartService>[0]) =>
    adminOf(consoleOf(await startService(t, { env: { CONSOLE_PORT: '0' } })));

  test(`${name}: a number that no row can have finds none`, async (t) => {
    const { ask } = await start(t);
    // Lists that begin with the newest row, and one that begins with the oldest.
    const last = `cursor=${encodeCursor(INT64_MAX)}`;
    for (const path of ['accounts', 'keys'])
      assert.deepEqual((await ask(`/${path}?${last}`)).json, (await ask(`/${path}`)).json, path);
    // The log begins at the time of an entry, and there is no such entry.
    assert.deepEqual((await ask(`/audit?${last}`)).json, []);
    assert.equal((await ask('/operators')).json.length, 1);
    assert.deepEqual((await ask(`/operators?${last}`)).json, []);
    for (const number of [INT64_MAX, -INT64_MAX - 1n, 0n]) {
      for (const path of ['keys?', 'usage?', 'usage?by=key&', 'audit?', 'failed-requests?'])
        assert.deepEqual((await ask(`/${path}accountId=${number}`)).json, [], path);
      for (const { method, path } of OPERATOR_OPERATIONS.filter((each) => each.path.includes('{'))) {
        const target = path.replace(/\{\w+\}/, `${number}`);
        const body = method === 'GET' || method === 'DELETE' ? '' : '{}';
        const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
        const answer = await ask(target, { method, headers, ...(body !== '' && { body }) });
        assertError(answer, 'not_found');
        assert.doesNotMatch(answer.json.message, /\d{2}/);
      }
    }
  });

  test(`${name}: the overview shows what this instance and all instances answered`, async (t) => {
    const { its, get } = await start(t);
    const empty = await get('/overview');
    assert.deepEqual(empty.latency, {});
    assert.deepEqual(empty.nearest, []);
    assert.deepEqual([empty.minutes.length, empty.hours.length, empty.bans], [60, 24, 0]);
    assert.equal(empty.requestsPerSecond, 0);
    assert.equal(empty.health.database.isUp, true);
    const key = await its.issueKey({ account: 'small', limits: { perMinute: 3, perDay: 100 } });
    const other = await its.issueKey({ account: 'large', limits: { perMinute: 100, perDay: 10 } });
    await its.issueKey({ account: 'idle' });
    for (let sent = 0; sent < 4; sent++) await call(its.url, '/v1/pets', { key });
    for (let sent = 0; sent < 2; sent++) await call(its.url, '/v1/pets', { key: other });
    await call(its.url, '/v1/nothing', { key: other });
    await call(its.url, '/v1/pets');
    await call(its.url, '/healthz');
    const at = its.clock().unix;
    const accounts = await its.store.accounts.listAll();
    const idOf = (account: string) => accounts.find((each) => each.name === account)?.id;
    const hour = Math.floor(at / HOUR);
    const [small] = await its.store.keys.listAll({ accountId: idOf('small') });
    const [large] = await its.store.keys.listAll({ accountId: idOf('large') });
    const [idle] = await its.store.keys.listAll({ accountId: idOf('idle') });
    const counts = [
      { hour, keyId: small?.id ?? 0, operation: 'listPets', counts: [3, 0, 1, 0] as const },
      { hour, keyId: large?.id ?? 0, operation: 'listPets', counts: [2, 1, 0, 0] as const },
      // Its windows are unused, as after a loss of the counters.
      { hour, keyId: idle?.id ?? 0, operation: 'listPets', counts: [1, 0, 0, 0] as const },
      { hour: hour - 23, keyId: large?.id ?? 0, operation: 'other', counts: [0, 0, 0, 5] as const },
      { hour: hour - 24, keyId: large?.id ?? 0, operation: 'other', counts: [9, 0, 0, 0] as const },
    ];
    await its.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
    // The service keeps an expensive result for ten seconds.
    assert.deepEqual((await get('/overview')).nearest, []);
    await its.passTime(11_000);
    const overview = await get('/overview');
    const { minutes, hours, nearest } = overview;
    const { p50, p99, ...outcomes } = minutes.at(-1);
    const minute = new Date(Math.floor(at / 60_000) * 60_000).toISOString();
    assert.deepEqual(outcomes, { start: minute, ok: 5, clientError: 1, refused: 1, serverError: 0 });
    assert.ok(p50 > 0 && p50 <= p99);
    assert.deepEqual(overview.latency, { p50, p99 });
    assert.equal(overview.requestsPerSecond, 0);
    assert.deepEqual(
      hours.map((each: Record<string, number>) => [
        each['ok'],
        each['clientError'],
        each['refused'],
        each['serverError'],
      ]),
      [[0, 0, 0, 5], ...Array.from({ length: 22 }, () => [0, 0, 0, 0]), [6, 1, 1, 0]],
    );
    assert.deepEqual(
      nearest.map(({ account, window, limit, remaining }: Record<string, unknown>) => [
        account,
        window,
        limit,
        remaining,
      ]),
      [
        ['small', 'minute', 3, 0],
        ['large', 'day', 10, 7],
      ],
    );
    assert.equal(overview.startedAt, empty.startedAt);
  });

  test(`${name}: usage is summed by interval, operation, key and account`, async (t) => {
    const { its, ask, get, pages } = await start(t);
    await its.issueKey({ account: 'shop' });
    await its.issueKey({ account: 'farm' });
    const hour = Math.floor(its.clock().unix / HOUR);
    const day = `${new Date(its.clock().unix).toISOString().slice(0, 10)}T00:00:00.000Z`;
    const counts = [
      { hour, keyId: 1, operation: 'listPets', counts: [4, 3, 2, 1] as const },
      { hour: hour - 1, keyId: 2, operation: 'createPet', counts: [1, 0, 0, 0] as const },
    ];
    await its.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
    const many = { ok: 4, clientError: 3, refused: 2, serverError: 1 };
    const one = { ok: 1, clientError: 0, refused: 0, serverError: 0 };
    assert.deepEqual(await get('/usage'), [
      { start: day, ok: 5, clientError: 3, refused: 2, serverError: 1 },
    ]);
    const iso = (hours: number) => new Date(hours * HOUR).toISOString();
    assert.deepEqual(await get('/usage?interval=hour'), [
      { start: iso(hour - 1), ...one },
      { start: iso(hour), ...many },
    ]);
    assert.deepEqual(await get(`/usage?interval=hour&from=${iso(hour)}`), [{ start: iso(hour), ...many }]);
    assert.deepEqual(await get('/usage?by=operation'), [
      { operation: 'listPets', ...many },
      { operation: 'createPet', ...one },
    ]);
    assert.deepEqual(await get('/usage?by=key&accountId=2'), [
      { keyId: 2, accountId: 2, account: 'farm', ...one },
    ]);
    assert.deepEqual(await get('/usage?by=account'), [
      { accountId: 1, account: 'shop', ...many },
      { accountId: 2, account: 'farm', ...one },
    ]);
    assert.deepEqual(await get('/usage?accountId=77'), []);
    for (const by of ['interval', 'operation', 'key', 'account'])
      assert.deepEqual(
        (await pages(`/usage?interval=hour&by=${by}&limit=1`)).flat(),
        await get(`/usage?interval=hour&by=${by}`),
        by,
      );
    for (const query of [
      'from=2026-11-21T12:00:00Z&to=2026-11-20T12:00:00Z',
      'from=2020-01-01T00:00:00Z',
      'interval=hour&from=2026-10-01T00:00:00Z',
      'from=yesterday',
      'interval=week',
      'by=label',
      'accountId=x',
      'limit=0',
      'limit=1001',
      'cursor=AAAAAAAAAAAAAAAA',
      'to=2026-11-21T12:00:00Z&to=2026-11-21T12:00:00Z',
    ])
      assertError(await ask(`/usage?${query}`), 'invalid_parameter');
  });

  test(`${name}: keys that call deprecated operations are listed, most requests first`, async (t) => {
    const { its, get, pages } = await start(t);
    assert.deepEqual(await get('/deprecations'), []);
    for (const account of ['shop', 'farm']) await its.issueKey({ account });
    const hour = Math.floor(its.clock().unix / HOUR);
    const count = (keyId: number, operation: string, ofHour: number, ok: number) =>
      ({ hour: ofHour, keyId, operation, counts: [ok, 0, 0, 0] }) as const;
    const counts = [
      count(1, 'getPet', hour - 24, 2),
      count(1, 'getPet', hour - 31 * 24, 50),
      count(2, 'getPet', hour - 3, 7),
      count(2, 'listPets', hour, 9),
    ];
    await its.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
    const iso = (ofHour: number) => new Date(ofHour * HOUR).toISOString();
    const { removal: at, successor } = GET_PET_DEPRECATION;
    const common = { operation: 'getPet', removal: new Date(at).toISOString(), successor };
    const uses = [
      { ...common, accountId: 2, account: 'farm', keyId: 2, requests: 7, lastHour: iso(hour - 3) },
      { ...common, accountId: 1, account: 'shop', keyId: 1, requests: 2, lastHour: iso(hour - 24) },
    ];
    assert.deepEqual(await get('/deprecations'), uses);
    assert.deepEqual(
      await pages('/deprecations?limit=1'),
      uses.map((use) => [use]),
    );
  });

  test(`${name}: the failed requests of this instance are found by each of their values, and have pages`, async (t) => {
    const { its, ask, get, pages } = await start(t);
    const key = await its.issueKey({ account: 'shop', limits: { perMinute: 2, perDay: 100 } });
    const send = (path: string, id: string, asked: Asked = {}) =>
      call(its.url, path, { ...asked, headers: { 'x-request-id': id, 'user-agent': 'shop/1.0' } });
    await send('/v1/pets', 'ok', { key });
    await send('/v1/pets/77', 'not-found', { key });
    await send('/v1/pets', 'refused', { key });
    await send('/v1/pets', 'unknown', { key: 'petstore_live_x' });
    await send('/nothing', 'no-api');
    const failed = await get('/failed-requests');
    const time = new Date(its.clock().unix).toISOString();
    const client = { time, method: 'GET', address: '127.0.0.1', userAgent: 'shop/1.0' };
    const owner = { accountId: 1, account: 'shop', keyId: 1 };
    const ids = failed.map(({ id }: { readonly id: number }) => id);
    assert.deepEqual(failed, [
      {
        id: ids[0],
        ...client,
        requestId: 'unknown',
        path: '/v1/pets',
        operation: 'listPets',
        status: 401,
        code: 'unauthorized',
        message: 'The API key is malformed or mistyped: copy the whole key again.',
      },
      {
        id: ids[1],
        ...client,
        requestId: 'refused',
        path: '/v1/pets',
        operation: 'listPets',
        status: 429,
        code: 'rate_limit_exceeded',
        message: 'The limit of 2 requests per minute is used up: wait 60 s.',
        ...owner,
      },
      {
        id: ids[2],
        ...client,
        requestId: 'not-found',
        path: '/v1/pets/{petId}',
        operation: 'getPet',
        status: 404,
        code: 'not_found',
        message: 'There is no animal with this petId.',
        ...owner,
      },
    ]);
    const found: Record<string, number[]> = {
      'requestId=refused': [1],
      'requestId=x': [],
      'accountId=1': [1, 2],
      'keyId=1': [1, 2],
      'keyId=2': [],
      'keyId=1&status=404': [2],
      'code=not_found': [2],
      'operation=PETS': [0, 1],
      'account=SHO': [1, 2],
      'since=2099-01-01T00:00:00Z': [],
      [`like=${ids[1]}`]: [1],
      'status=401': [0],
      'limit=1': [0],
    };
    for (const [query, indexes] of Object.entries(found))
      assert.deepEqual(
        await get(`/failed-requests?${query}`),
        indexes.map((index): unknown => failed[index]),
        query,
      );
    assert.deepEqual(await pages('/failed-requests?limit=2'), [failed.slice(0, 2), failed.slice(2)]);
    assert.deepEqual(await pages('/failed-requests?limit=1&keyId=1'), [[failed[1]], [failed[2]]]);
    assert.deepEqual(await get(`/failed-requests/${ids[2]}`), failed[2]);
    assertError(await ask('/failed-requests/1'), 'not_found');
    assert.deepEqual(
      await get('/failed-requests/groups?keyId=1'),
      [failed[1], failed[2]].map((last) => ({ count: 1, firstTime: time, last })),
    );
    for (const query of [
      'cursor=x',
      'code=x',
      'since=x',
      'status=200',
      'status=x',
      'limit=0',
      'limit=101',
      `requestId=${'x'.repeat(129)}`,
    ])
      assertError(await ask(`/failed-requests?${query}`), 'invalid_parameter');
  });
}
