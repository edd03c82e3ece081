// Contract: sections 3.13 and 6.9.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { encodeCursor } from '../../src/domain/cursor.ts';

import { KEPT } from '../../src/resources/usage/rules.ts';
import { TABLES } from '../../src/resources/repositories.ts';
import { assertError, call } from '../support/api.ts';
import type { StartService, TestService } from '../support/service.ts';
import { create, revoke, rotate, type Send, senderOf } from './keys-contract.ts';
import { changeAccount, findAccount } from '../support/store.ts';
import { test } from '../support/test.ts';

const LIMITS = { perMinute: 5, perDay: 50 };
const MISSING = 999;

/** Both windows, from the rate headers. */
function remaining(headers: Headers): unknown {
  return headers
    .get('ratelimit')
    ?.match(/(?<=r=)\d+/g)
    ?.map(Number);
}

/** Refused so often that the key is banned. */
async function getBanned(send: Send): Promise<void> {
  for (let count = 0; count < 60; count++) {
    const { status, text } = await send('/pets');
    if (status === 429 && text.includes('key_banned')) return;
  }
  assert.fail('The key is not banned.');
}

/** The usage that the history has, once it is written: it is written in the background. */
async function usageAfter(send: Send, rows: number): Promise<Record<string, unknown>[]> {
  for (;;) {
    const answer = await send('/account/usage');
    assert.equal(answer.status, 200, answer.text);
    const usage = answer.json.filter(({ operation }: { operation: string }) => operation !== 'getUsage');
    if (usage.length >= rows) return usage;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** The operations of an account on itself, over any store; `start` gives a service on the stores of `backend`. */
export function accountContract(backend: string, start: StartService): void {
  test(`${backend}: any key sees its account and the windows of its plan as they are`, async (t) => {
    const service = await start(t);
    const key = await service.issueKey({ scopes: [], limits: LIMITS });
    const send = senderOf(service, key);
    for (let count = 1; count <= 2; count++) {
      const { headers } = await call(service.url, '/v1/nothing', { key });
      const { status, json } = await send('/account');
      assert.equal(status, 200);
      const { minute, day, ...account } = json;
      assert.deepEqual(account, { name: 'acme', plan: 'enterprise', limits: LIMITS, scopes: [], bans: [] });
      assert.deepEqual([minute.limit, minute.remaining], [LIMITS.perMinute, LIMITS.perMinute - count]);
      assert.deepEqual([day.limit, day.remaining], [LIMITS.perDay, LIMITS.perDay - count]);
      assert.deepEqual(remaining(headers), [minute.remaining, day.remaining]);
      assert.equal(minute.reset, Number(headers.get('x-ratelimit-reset')));
      assert.equal(day.reset % (DAY / 1_000), 0);
    }
  });

  test(`${backend}: the bans in force of the account's live keys are shown, no others`, async (t) => {
    const service = await start(t, { env: { BAN_AFTER: '3' } });
    const limits = { perMinute: 1_000, perDay: 100_000 };
    const send = senderOf(service, await service.issueKey({ limits }));
    const [one, two] = [(await create(send)).json, (await create(send)).json];
    const stranger = senderOf(service, await service.issueKey({ account: 'other', limits: LIMITS }));
    await getBanned(stranger);
    const { accounts } = service.store;
    const { id = 0 } = (await findAccount(accounts, 'acme')) ?? {};
    await changeAccount(accounts, id, { plan: 'enterprise', limits: { perMinute: 1, perDay: 100_000 } });
    for (const { key } of [one, two]) await getBanned(senderOf(service, key));
    await changeAccount(accounts, id, { plan: 'enterprise', limits });
    await service.passTime(5_000);
    assert.equal((await revoke(send, two.id)).status, 204);
    const [{ until, ...ban }, ...others] = (await send('/account')).json.bans;
    assert.deepEqual([ban, others], [{ keyId: one.id, count: 1 }, []]);
    const left = Date.parse(until) - service.clock().unix;
    assert.ok(left > 0 && left <= 300_000, `${left}`);
  });

  test(`${backend}: usage is by operation, key and outcome, of this account and environment`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey());
    const stranger = senderOf(service, await service.issueKey({ account: 'other' }));
    await stranger('/pets');
    for (let count = 0; count < 3; count++) await send('/pets');
    await send('/pets/1');
    await send('/nothing');
    const day = new Date(Math.floor(service.clock().unix / DAY) * DAY).toISOString();
    const row = { start: day, keyId: 1, ok: 0, clientError: 0, refused: 0, serverError: 0 };
    assert.deepEqual(await usageAfter(send, 3), [
      { ...row, operation: 'getPet', clientError: 1 },
      { ...row, operation: 'listPets', ok: 3 },
      { ...row, operation: 'other', clientError: 1 },
    ]);
    const others = await usageAfter(stranger, 1);
    assert.deepEqual(others, [{ ...row, keyId: 2, operation: 'listPets', ok: 1 }]);
    const before = new Date(service.clock().unix - DAY).toISOString();
    assert.deepEqual((await send(`/account/usage?to=${before}`)).json, []);
  });

  test(`${backend}: usage with an allowance has the requests that count in the windows of the plan, or of the holder`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey());
    const keyId = 1;
    const hour = Math.floor(service.clock().unix / HOUR);
    const counts = ['listPets', 'other', 'getAccount', 'createWebhook', 'listKeys'].map(
      (operation, index) => ({
        hour,
        keyId,
        operation,
        counts: [10 ** index, 0, 0, 0] as const,
      }),
    );
    await service.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
    const sum = async (query: string) => {
      const { json } = await send(`/account/usage?interval=hour&${query}`);
      return json.reduce((total: number, row: { ok: number }) => total + row.ok, 0);
    };
    for (const by of ['', '&by=key', '&by=operation']) {
      assert.equal(await sum(`allowance=plan${by}`), 11, by);
      // This test asks for the usage, too.
      assert.equal(Math.floor((await sum(`allowance=holder${by}`)) / 100), 111, by);
    }
    assertError(await send('/account/usage?allowance=all'), 'invalid_parameter');
  });

  test(`${backend}: usage has pages of at most 1,000 rows, which a link leads through in one range`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey());
    const ids = [1];
    for (let count = 1; count < 20; count++) ids.push((await create(send)).json.id);
    const hour = (Math.floor(service.clock().unix / DAY) * DAY) / HOUR - 24;
    const names = Array.from('abcdefghijklmnopqrstu', (letter) => `operation${letter}`);
    const counts = Array.from({ length: 3 }, (_, index) => hour + index).flatMap((its) =>
      ids.flatMap((keyId) =>
        names.map((operation) => ({ hour: its, keyId, operation, counts: [1, 2, 3, 4] as const })),
      ),
    );
    await service.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
    const iso = (hours: number) => new Date(hours * HOUR).toISOString();
    const range = `interval=hour&from=${encodeURIComponent(iso(hour))}`;
    const follow = async (query: string) => {
      const pages: Record<string, unknown>[][] = [];
      for (let path: string | undefined = `/account/usage?${query}`; path !== undefined; ) {
        const { status, json, text, headers } = await send(path);
        assert.equal(status, 200, text);
        assert.ok(text.length < 200_000, `${text.length} characters`);
        pages.push(json);
        const [, next] = /^<[^>]*\/v1([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
        path = next;
        await service.passTime(HOUR);
      }
      return pages;
    };
    const own = new Set(names);
    const [first, second, ...others] = await follow(range);
    assert.deepEqual([first?.length, others], [1_000, []]);
    const rows = [...(first ?? []), ...(second ?? [])].filter((row) => own.has(String(row['operation'])));
    const found = rows.map((row) => [row['start'], row['operation'], row['keyId']].join(' '));
    assert.equal(found.length, 3 * 20 * 21);
    assert.equal(new Set(found).size, found.length);
    const sums = async (by: string, limit: number) =>
      (await follow(`${range}&by=${by}&limit=${limit}`)).flat();
    const sum = (times: number) => ({
      ok: times,
      clientError: 2 * times,
      refused: 3 * times,
      serverError: 4 * times,
    });
    const byOperation = (await sums('operation', 20)).filter((row) => own.has(String(row['operation'])));
    assert.deepEqual(
      byOperation,
      [0, 1, 2].flatMap((index) =>
        names.map((operation) => Object.assign({ start: iso(hour + index), operation }, sum(20))),
      ),
    );
    const byKey = (await sums('key', 7)).filter((row) => String(row['start']) < iso(hour + 3));
    assert.deepEqual(
      byKey,
      [0, 1, 2].flatMap((index) =>
        ids.map((keyId) => Object.assign({ start: iso(hour + index), keyId }, sum(21))),
      ),
    );
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=x',
      'by=interval',
      'cursor=',
      `cursor=${encodeCursor(5n)}`,
    ])
      assertError(await send(`/account/usage?${query}`), 'invalid_parameter');
  });

  test(`${backend}: a walk over usage goes on when its first interval is no longer kept`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey());
    const hour = Math.floor(service.clock().unix / HOUR) - KEPT.hour / HOUR;
    const counts = [0, 1, 2].map((index) => ({
      hour: hour + index,
      keyId: 1,
      operation: 'listPets',
      counts: [1, 0, 0, 0] as const,
    }));
    await service.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
    const iso = (hours: number) => encodeURIComponent(new Date(hours * HOUR).toISOString());
    const query = `interval=hour&limit=1&from=${iso(hour)}&to=${iso(hour + 3)}`;
    const { headers } = await send(`/account/usage?${query}`);
    await service.passTime(2 * HOUR);
    assertError(await send(`/account/usage?${query}`), 'invalid_parameter');
    const next = /\/v1([^>]+)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
    const page = await send(next);
    assert.deepEqual([page.status, page.json.length], [200, 1]);
    await service.passTime(2 * DAY);
    assertError(await send(next), 'invalid_parameter');
  });

  test(`${backend}: the range of a cursor of usage is checked like from and to`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey());
    const now = Math.floor(service.clock().unix);
    const ask = (interval: string, from: number, to: number) =>
      send(`/account/usage?interval=${interval}&cursor=${encodeCursor(`${to}.${from}.1.listPets`)}`);
    const far = Date.parse('9999-12-31T23:59:59.999Z');
    const taken: readonly Parameters<typeof ask>[] = [
      ['day', now - 700 * DAY, now],
      ['day', now - 30 * DAY, far],
      ['hour', now - 31 * DAY, now],
      ['day', now, now],
    ];
    for (const values of taken) assert.equal((await ask(...values)).text, '[]', values.join(' '));
    const wrong: readonly Parameters<typeof ask>[] = [
      ['day', 0, now],
      ['day', now - 800 * DAY, now],
      ['day', now, now - 1],
      ['day', now, far + 1],
      ['hour', now - 31 * DAY - 1, now],
      ['hour', now - 1, far],
      ['hour', now - 100 * DAY, now - 99 * DAY],
    ];
    for (const values of wrong) {
      const answer = await ask(...values);
      assertError(answer, 'invalid_parameter');
      assert.match(answer.json.message, /^The parameter cursor must come from the Link header/);
    }
  });

  /** Keys of an owner in both environments, and of a stranger. */
  const prepare = async (t: TestContext) => {
    const service = await start(t);
    const owner = senderOf(service, await service.issueKey({ account: 'owner' }));
    const stranger = senderOf(service, await service.issueKey({ account: 'stranger' }));
    await service.issueKey({ account: 'owner', environment: 'staging' });
    const { id } = (await create(owner)).json;
    return { service, owner, stranger, foreign: [1, id], staging: 3 };
  };

  test(`${backend}: a key of another account or environment is not found`, async (t) => {
    const { owner, stranger, foreign, staging } = await prepare(t);
    const keysOf = async () =>
      (await owner('/account/keys')).json.map(({ id, state }: { id: number; state: string }) => [id, state]);
    const before = await keysOf();
    const cases = [
      ...foreign.map((id) => [stranger, id] as const),
      [owner, staging],
      [stranger, staging],
    ] as const;
    for (const [send, id] of cases)
      for (const headers of [{}, { 'idempotency-key': 'a' }]) {
        const missing = await rotate(send, MISSING, {}, headers);
        assertError(missing, 'not_found');
        assert.equal((await rotate(send, id, {}, headers)).text, missing.text);
        assert.equal((await revoke(send, id)).text, missing.text);
      }
    assert.deepEqual(await keysOf(), before);
    const listed = (await stranger('/account/keys')).json.map(({ id }: { id: number }) => id);
    assert.deepEqual(listed, [2]);
    const cursor = encodeCursor(100n);
    assert.equal((await stranger(`/account/keys?cursor=${cursor}`)).json.length, 1);
  });

  test(`${backend}: an Idempotency-Key of another account creates nothing and hides nothing`, async (t) => {
    const { owner, stranger } = await prepare(t);
    const once = { 'idempotency-key': 'a' };
    assert.equal((await create(owner, {}, once)).status, 201);
    assert.equal((await create(stranger, {}, once)).status, 201);
    assertError(await create(stranger, {}, once), 'conflict');
  });

  test(`${backend}: every change is audited once, with its key as actor and the address`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey());
    const made = (await create(send, { label: 'web' }, { 'idempotency-key': 'a' })).json;
    await create(send, { label: 'web' }, { 'idempotency-key': 'a' });
    const rotated = (await rotate(send, made.id)).json;
    await rotate(send, made.id);
    await revoke(send, rotated.id);
    await revoke(send, rotated.id);
    const entries = (await service.store.audit.list({ limit: 100 })).items.filter(
      ({ actor }) => actor.kind === 'key',
    );
    assert.deepEqual(
      entries.map(({ action, target, accountId, actor }) => [action, target.name, accountId, actor]),
      [
        ['keys revoke', `${rotated.id}`],
        ['keys rotate', `${made.id}`],
        ['keys create', `${made.id}`],
      ].map(([action, name]) => [action, name, 1, { kind: 'key', id: 1, address: '127.0.0.1' }]),
    );
  });

  test(`${backend}: a key that is revoked or rotated away is refused at once`, async (t) => {
    const service = await start(t);
    const send = senderOf(service, await service.issueKey());
    const { key, id } = (await create(send)).json;
    const works = async (its: string) => (await call(service.url, '/v1/pets', { key: its })).status;
    assert.equal(await works(key), 200);
    const next = (await rotate(send, id, { grace: 0 })).json;
    assert.deepEqual([await works(key), await works(next.key)], [401, 200]);
    await revoke(send, next.id);
    assert.equal(await works(next.key), 401);
  });

  test(`${backend}: no created key is in the log or in any table`, async (t) => {
    const service = await start(t, { env: { LOG_LEVEL: 'trace' } });
    const first = await service.issueKey();
    const send = senderOf(service, first);
    const once = { 'idempotency-key': 'a' };
    const made = (await create(send, { label: 'web' }, once)).json;
    const next = (await rotate(send, made.id, { grace: 0 }, once)).json;
    await create(send, { label: 'web' }, once);
    await rotate(send, made.id, { grace: 0 }, once);
    await revoke(send, next.id);
    const tables = await dump(service);
    for (const text of ['"web"', 'keys rotate', '/account/keys/2']) assert.ok(tables.includes(text), text);
    for (const key of [first, made.key, next.key]) {
      // The last four characters of a key are stored on purpose.
      const secret = key.slice('petstore_live_'.length, -4);
      for (const text of [tables, service.logText()]) assert.ok(!text.includes(secret));
    }
  });
}

/** Every row of the store. */
async function dump({ store }: TestService): Promise<string> {
  await using snapshot = await store.database.snapshot();
  const found: unknown[] = [];
  for (const table of TABLES) for await (const rows of snapshot.rows(table)) found.push(...rows);
  return JSON.stringify(found, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
