// Contract: sections 3 and 6. What a check does to others, and what they can do to it.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { checkService, listPromises } from '../support/checked-service.ts';
import { fakeClock } from '../support/clock.ts';
import { type Behaviour, type ProxiedRequest, startFaultyService } from '../support/faulty-service.ts';
import { Random } from '../support/random.ts';
import { startTestService } from '../support/service.ts';
import { test } from '../support/test.ts';

const KEY = `petstore_test_${'a'.repeat(38)}`;
const BUSINESS = { perMinute: 1_000, perDay: 100_000 };

/** A service of which every request goes through a layer that notes it. */
async function startNoted(t: TestContext, behaviour: Behaviour = (request, forward) => forward(request)) {
  const service = await startTestService(t);
  const layer = await startFaultyService(t, service.url);
  const noted: { readonly request: ProxiedRequest; readonly status: number }[] = [];
  layer.behave(async (request, forward) => {
    const answer = await behaviour(request, forward);
    noted.push({ request, status: answer.status });
    return answer;
  });
  return { service, url: layer.url, noted };
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

test('without leave to write, only GET, HEAD and OPTIONS are sent', async (t) => {
  const { service, url, noted } = await startNoted(t);
  const key = await service.issueKey({ limits: BUSINESS });
  await checkService(url, key, service.clock, { writes: false });
  const methods = new Set(noted.map(({ request }) => request.method));
  assert.deepEqual([...methods].toSorted(), ['GET', 'HEAD', 'OPTIONS']);
});

test('the check is never refused, and ends when it has taken a quarter of a day', async (t) => {
  const { service, url, noted } = await startNoted(t);
  const key = await service.issueKey({ limits: { perMinute: 20, perDay: 200 } });
  const report = await checkService(url, key, service.clock);
  assert.equal(report.stopped, 'a quarter of the 200 requests of this day was used');
  assert.deepEqual(listPromises(report, 'broken'), []);
  const refused = noted.filter(({ status }) => status === 429);
  assert.deepEqual(refused, []);
  const { items } = await service.store.pets.list({ limit: 100, cursor: undefined });
  assert.equal(items, '[]');
});

test('a service that refuses everything ends the check long before a ban', async (t) => {
  const headers = { ...JSON_HEADERS, 'retry-after': '1' };
  const body = '{"code":"rate_limit_exceeded","message":"Wait.","status":429}';
  const { url, noted } = await startNoted(t, async () => ({ status: 429, headers, body }));
  const report = await checkService(url, KEY, fakeClock());
  assert.equal(report.stopped, '5 requests were refused with 429 or 503');
  assert.ok(noted.length < 20, `${noted.length} requests`);
});

test('a service that says to wait for a day is not waited for', async (t) => {
  const headers = { ...JSON_HEADERS, 'retry-after': '86400' };
  const { url, noted } = await startNoted(t, async () => ({ status: 429, headers, body: '{}' }));
  await assert.rejects(checkService(url, KEY, fakeClock()), /wait for 86400 seconds/);
  assert.equal(noted.length, 1);
});

test('a window of years is not waited for', async (t) => {
  const { service, url } = await startNoted(t, async (request, forward) => {
    const answer = await forward(request);
    const ratelimit = '"minute";r=0;t=9999999999, "day";r=90000;t=80000';
    return { ...answer, headers: { ...answer.headers, ...('ratelimit' in answer.headers && { ratelimit }) } };
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const report = await checkService(url, key, service.clock);
  assert.match(report.stopped ?? '', /^the service says to wait for \d{10} seconds$/);
});

test('a Retry-After that is no number of seconds counts as one second', async (t) => {
  for (const value of ['-5', 'Fri, 27 Nov 2026 23:00:00 GMT', '1e9', 'Infinity']) {
    const headers = { ...JSON_HEADERS, 'retry-after': value };
    const { url } = await startNoted(t, async () => ({ status: 503, headers, body: '{}' }));
    const waits = new Set<number>();
    const wait = async (milliseconds: number) => void waits.add(milliseconds);
    const report = await checkService(url, KEY, fakeClock(), { wait });
    assert.equal(report.stopped, '5 requests were refused with 429 or 503', value);
    assert.deepEqual([...waits], [1_000], value);
  }
});

test('the key goes to no other host, whatever redirects and links say', async (t) => {
  const other = await startNoted(t);
  const { service, url } = await startNoted(t, async (request, forward) => {
    const answer = await forward(request);
    if (request.path === '/v1/store/inventory')
      return { ...answer, status: 307, headers: { ...answer.headers, location: `${other.url}/v1/pets` } };
    const link = answer.headers['link']?.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, other.url);
    return { ...answer, headers: { ...answer.headers, ...(link !== undefined && { link }) } };
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const report = await checkService(url, key, service.clock);
  assert.ok(listPromises(report, 'broken').some((promise) => promise.startsWith('3.2 Link is absolute')));
  assert.ok(listPromises(report, 'broken').some((promise) => promise.startsWith('3.12 the inventory')));
  assert.deepEqual(other.noted, []);
});

test('an answer without end is cut, and the check goes on', async (t) => {
  const { service, url } = await startNoted(t, async (request, forward) => {
    const answer = await forward(request);
    return request.path === '/v1/store/inventory'
      ? { ...answer, body: `"${'x'.repeat(9 * 1024 * 1024)}"` }
      : answer;
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const report = await checkService(url, key, service.clock, { writes: false });
  const inventory = report.outcomes.find(({ promise }) => promise.startsWith('the inventory'));
  assert.match(inventory?.findings[0]?.came ?? '', /more than 8388608 bytes/);
  assert.deepEqual(listPromises(report, 'broken').length, 1);
});

test('a service that breaks every connection ends the check', async (t) => {
  let count = 0;
  const { service, url } = await startNoted(t, (request, forward) => {
    if (++count > 40) throw new Error('broken');
    return forward(request);
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const report = await checkService(url, key, service.clock);
  assert.equal(report.stopped, '5 requests had no answer');
  assert.ok(count < 60, `${count} requests`);
  assert.ok(report.left.some((path) => path.startsWith('/pets/')));
});

test('a check that is interrupted deletes what it added', async (t) => {
  const interrupted = new AbortController();
  const { service, url, noted } = await startNoted(t, async (request, forward) => {
    const answer = await forward(request);
    if (noted.length === 60) interrupted.abort();
    return answer;
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const report = await checkService(url, key, service.clock, { signal: interrupted.signal });
  assert.equal(report.stopped, 'it was interrupted');
  const added = noted.filter(({ request, status }) => request.path === '/v1/pets' && status === 201);
  assert.ok(added.length > 5);
  const { items } = await service.store.pets.list({ limit: 100, cursor: undefined });
  assert.equal(items, '[]');
  for (const path of report.left) assert.match(path, /\((?:complete|cancelled|revoked)\)$/);
});

test('a check that is interrupted while it reads does not wait for the answer', async (t) => {
  const interrupted = new AbortController();
  const { service, url } = await startNoted(t, (request, forward) => {
    if (request.path !== '/v1/store/inventory') return forward(request);
    interrupted.abort();
    return new Promise(() => undefined);
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const report = await checkService(url, key, service.clock, { signal: interrupted.signal, writes: false });
  assert.equal(report.stopped, 'it was interrupted');
});

test('the report names what could not be deleted, and what may have been added without an answer', async (t) => {
  const lost = new Set<string>();
  const { service, url } = await startNoted(t, async (request, forward) => {
    const { method, path } = request;
    if (method === 'DELETE' && path.startsWith('/v1/pets/'))
      return { status: 500, headers: JSON_HEADERS, body: '{}' };
    const answer = await forward(request);
    // An animal of the category of the run, one of another category, and a key.
    const thing = `${path} ${/"categoryId":\d{19}/.test(request.body.toString())}`;
    if (method !== 'POST' || answer.status !== 201 || lost.has(thing) || !/keys|pets/.test(path))
      return answer;
    lost.add(thing);
    throw new Error('broken');
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const { left } = await checkService(url, key, service.clock);
  const { items } = await service.store.pets.list({ limit: 100, cursor: undefined });
  const ids = Array.from(items.matchAll(/"id":(\d+),/g), ([, id]) => `/pets/${id}`);
  assert.ok(ids.length > 5);
  const names = new Set(left);
  // The one of another category cannot be found.
  assert.equal(ids.filter((path) => !names.has(path)).length, 1);
  for (const path of ['/account/keys', '/pets'])
    assert.ok(left.includes(`${path} (a POST had no answer: it may have added one)`), left.join(' '));
});

test('others who use the account and the catalogue meanwhile break no promise', async (t) => {
  const random = new Random(7);
  const { service, url } = await startNoted(t, async (request, forward) => {
    const ask = (method: string, path: string, text = '') => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      return forward({ method, path, headers, body: Buffer.from(text), socket: request.socket });
    };
    if (random.next() < 0.3)
      await ask('POST', '/v1/pets', '{"name":"Rex","categoryId":7,"status":"available"}');
    if (random.next() < 0.2) {
      const oldest = await ask('GET', '/v1/pets?categoryId=7&limit=3');
      const [, id] = /"id":(\d+)[^{]*\}\]$/.exec(oldest.body) ?? [];
      if (id !== undefined) await ask('DELETE', `/v1/pets/${id}`);
    }
    return forward(request);
  });
  const key = await service.issueKey({ limits: { perMinute: 10_000, perDay: 100_000 } });
  const report = await checkService(url, key, service.clock);
  assert.deepEqual(
    report.outcomes.flatMap(({ promise, findings }) => findings.map((finding) => [promise, finding])),
    [],
  );
});

test('a deployment below a path is checked there', async (t) => {
  const { service, url } = await startNoted(t, async (request, forward) => {
    const path = request.path.replace(/^\/shop(?=\/)/, '');
    const answer = await forward({ ...request, path });
    return path === request.path ? { ...answer, status: 404, headers: {}, body: '' } : answer;
  });
  const key = await service.issueKey({ limits: BUSINESS });
  const report = await checkService(`${url}/shop`, key, service.clock, { writes: false });
  assert.deepEqual(listPromises(report, 'broken'), []);
});
