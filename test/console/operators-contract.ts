// Contract: section 10.2.
import assert from 'node:assert/strict';
import { type Answer, assertError, call } from '../support/api.ts';
import { adminOf, consoleOf } from '../support/console.ts';
import type { StartService } from '../support/service.ts';
import { test } from '../support/test.ts';

/** The admin API on operators, bans and the audit log, over any stores. */
export function operatorsContract(name: string, startService: StartService): void {
  const start = async (t: Parameters<StartService>[0], env: Record<string, string> = {}) =>
    adminOf(consoleOf(await startService(t, { env: { CONSOLE_PORT: '0', ...env } })));

  test(`${name}: the audit log pages by Link, and shows actor, change and address`, async (t) => {
    const { its, ask, get } = await start(t);
    await ask('/accounts', { body: '{"name":"shop"}' });
    await ask('/accounts/1', { method: 'PATCH', body: '{"plan":"pro"}' });
    await ask('/operators', { body: '{"name":"eve","role":"viewer"}' });
    await ask('/operators/2', { method: 'DELETE' });
    const all = await get('/audit?limit=100');
    assert.deepEqual(
      all.map(({ action }: { action: string }) => action),
      [
        'operators remove',
        'operators create',
        'accounts set',
        'accounts create',
        'sign in',
        'operators link',
        'operators create',
      ],
    );
    const [removed, , changed] = all;
    const { id: _id, time, ...entry } = removed;
    assert.equal(time, new Date(its.clock().unix).toISOString());
    assert.deepEqual(entry, {
      actor: { kind: 'operator', name: 'ada' },
      address: '127.0.0.1',
      action: 'operators remove',
      target: { kind: 'operator', name: 'eve' },
      before: { role: 'viewer' },
    });
    assert.equal(changed.accountId, 1);
    const paged: unknown[] = [];
    const since = encodeURIComponent('2026-11-01T02:00:00+02:00');
    let next: string | undefined = `/admin/v1/audit?limit=3&since=${since}`;
    for (let pages = 0; next !== undefined; pages++) {
      assert.ok(pages < 3);
      const answer: Answer = await ask(next.slice('/admin/v1'.length));
      paged.push(...(answer.json as unknown[]));
      next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      assert.match(
        next ?? '/admin/v1/audit?since=2026-11-01T00%3A00%3A00.000Z&limit=3&cursor=x',
        /^\/admin\/v1\/audit\?since=2026-11-01T00%3A00%3A00.000Z&limit=3&cursor=/,
      );
    }
    assert.deepEqual(paged, all);
    assert.deepEqual(
      (await get('/audit?accountId=1')).map(({ action }: { action: string }) => action),
      ['accounts set', 'accounts create'],
    );
    assert.deepEqual(await get('/audit?since=2026-12-01T00:00:00Z'), []);
    for (const query of ['since=now', 'cursor=x', 'limit=0'])
      assertError(await ask(`/audit?${query}`), 'invalid_parameter');
  });

  test(`${name}: a ban is listed, and lifted once, with an entry in the audit log`, async (t) => {
    const { its, ask, get } = await start(t, { BAN_AFTER: '3' });
    assert.deepEqual(await get('/bans'), []);
    await ask('/accounts', { body: '{"name":"shop","plan":"enterprise","perMinute":1,"perDay":100}' });
    const { key } = (await ask('/accounts/1/keys', { body: '{"label":"board"}' })).json;
    for (let sent = 0; sent < 5; sent++) await call(its.url, '/v1/pets', { key });
    const [ban, ...others] = await get('/bans');
    assert.deepEqual(others, []);
    const { until, ...banned } = ban;
    assert.deepEqual(banned, { keyId: 1, accountId: 1, account: 'shop', label: 'board', count: 1 });
    assert.ok(Math.abs(Date.parse(until) - its.clock().unix - 300_000) < 5_000, until);
    assert.equal((await get('/overview')).bans, 1);
    // With Redis, the end is computed at each reading.
    const [{ until: _until, ...ofAccount }] = (await get('/accounts/1')).bans;
    assert.deepEqual(ofAccount, { keyId: 1, label: 'board', count: 1 });
    assert.equal((await ask('/bans/1', { method: 'DELETE' })).status, 204);
    assertError(await ask('/bans/1', { method: 'DELETE' }), 'not_found');
    assertError(await ask('/bans/77', { method: 'DELETE' }), 'not_found');
    assert.deepEqual(await get('/bans'), []);
    const [entry] = await get('/audit?limit=1');
    assert.deepEqual(
      [entry.action, entry.actor, entry.target.name],
      ['bans lift', { kind: 'operator', name: 'ada' }, '1'],
    );
  });

  test(`${name}: bans, operators and tokens have pages`, async (t) => {
    const { its, ask, get, pages } = await start(t, { BAN_AFTER: '1' });
    for (const account of ['a', 'b', 'c']) {
      const key = await its.issueKey({ account, limits: { perMinute: 1, perDay: 100 } });
      for (let sent = 0; sent < 3; sent++) await call(its.url, '/v1/pets', { key });
      await ask('/operators', { body: JSON.stringify({ name: account, role: 'viewer' }) });
      await ask('/operators/1/tokens', { body: '{}' });
    }
    for (const [path, count] of [
      ['/bans', 3],
      ['/operators', 4],
      ['/tokens', 3],
    ] as const) {
      const ids = (rows: any[]): number[] => rows.map(({ id, keyId }) => id ?? keyId);
      const all = ids(await get(path));
      assert.equal(all.length, count);
      assert.deepEqual((await pages(`${path}?limit=2`)).map(ids), [all.slice(0, 2), all.slice(2)]);
      for (const query of ['limit=0', 'cursor=x'])
        assertError(await ask(`${path}?${query}`), 'invalid_parameter');
    }
  });

  test(`${name}: operators, their links and their tokens are made, listed and removed`, async (t) => {
    const { its, ask, get } = await start(t);
    const created = await ask('/operators', { body: '{"name":"Eve","role":"viewer"}' });
    const createdAt = new Date(its.clock().unix).toISOString();
    assert.deepEqual(
      [created.status, created.json],
      [201, { id: 2, name: 'Eve', role: 'viewer', createdAt }],
    );
    assertError(await ask('/operators', { body: '{"name":"eve","role":"admin"}' }), 'conflict');
    assertError(await ask('/operators', { body: '{"name":"bob","role":"owner"}' }), 'invalid_request');
    const { link, expiresAt } = (await ask('/operators/2/links', { method: 'POST' })).json;
    assert.equal(expiresAt, new Date(its.clock().unix + 600_000).toISOString());
    assert.ok(String(link).startsWith(`${its.consoleUrl}/sign-in#`), link);
    assert.equal((await its.signIn(String(link).split('#')[1] ?? '')).status, 204);
    const issued = (await ask('/operators/2/tokens', { body: '{}' })).json;
    assert.equal((await its.ask('/admin/v1/me', { key: issued.token })).json.name, 'Eve');
    assert.deepEqual(await get('/tokens'), [{ id: issued.id, operator: 'Eve', createdAt }]);
    assert.deepEqual(
      (await get('/operators')).map((each: { name: string }) => each.name),
      ['ada', 'Eve'],
    );
    const past = await ask('/operators/2/tokens', { body: '{"expiresAt":"2020-01-01T00:00:00Z"}' });
    assertError(past, 'invalid_request');
    assert.equal((await ask('/operators/2', { method: 'DELETE' })).status, 204);
    assert.deepEqual(await get('/tokens'), []);
    for (const [method, path] of [
      ['DELETE', '/operators/2'],
      ['POST', '/operators/2/links'],
      ['POST', '/operators/x/links'],
      ['POST', '/operators/2/tokens'],
    ] as const)
      assertError(await ask(path, { method, ...(path.endsWith('tokens') && { body: '{}' }) }), 'not_found');
  });
}
