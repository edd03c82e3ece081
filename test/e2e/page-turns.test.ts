// Contract: section 1. What strangers may ask for holds up nobody.
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { PAGE_LIMITS } from '../../src/domain/plan.ts';
import { openApi } from '../../src/description/openapi.ts';
import { createReference } from '../../src/pages/reference/reference.ts';
import { assertError, call } from '../support/api.ts';
import { isTorture } from '../support/rounds.ts';
import { startTestService } from '../support/service.ts';
import { test } from '../support/test.ts';
import { watchTurns } from '../support/turns.ts';

/** Milliseconds that one turn of the event loop may take, on a busy machine. */
const LONGEST_TURN = 200;

const NANOSECONDS = 1e6;

test('the reference and the description are made in many turns of the event loop', async () => {
  const { paths, components } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production).document;
  const operations = Object.values(paths).flatMap((path) => Object.values(path)).length;
  const schemas = Object.keys(components.schemas).length;
  const parts = operations + schemas;
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const creating = createReference(EXAMPLE_URLS, EXAMPLE_URLS.production);
  assert.ok((await watchTurns(creating)) >= parts);
  const { page, yaml } = await creating;
  assert.ok((await watchTurns(page.prepare())) >= parts);
  assert.ok((await watchTurns(yaml.prepare())) >= parts);
  delays.disable();
  if (isTorture) assert.ok(delays.max / NANOSECONDS < LONGEST_TURN, `${delays.max / NANOSECONDS} ms`);
});

test('an address that asks for pages too often gets 429, and everything else goes on', async (t) => {
  const service = await startTestService(t, { env: { TRUST_PROXY: '127.0.0.1' } });
  const key = await service.issueKey();
  const ask = (path: string, address = '203.0.113.7', as?: string) =>
    call(service.url, path, { key: as, headers: { 'x-forwarded-for': address } });
  const paths = ['/reference', '/openapi.json', '/reference.md', '/dashboard', '/llms.txt', '/openapi.yaml'];
  for (let count = 0; count < PAGE_LIMITS.perMinute; count++) {
    const { status } = await ask(paths[count % paths.length] ?? '');
    assert.equal(status, 200);
  }
  for (const path of paths) {
    const refused = await ask(path);
    assertError(refused, 'rate_limit_exceeded');
    assert.equal(refused.headers.get('retry-after'), '60');
  }
  // Probes, files of pages, keys, and refused keys have nothing to do with it.
  for (const path of ['/healthz', '/readyz', '/reference/states.svg'])
    assert.equal((await ask(path)).status, 200, path);
  assert.equal((await ask('/v1/pets', undefined, key)).status, 200);
  assertError(await ask('/v1/pets'), 'unauthorized');
  assert.equal((await ask('/reference', '203.0.113.8')).status, 200);
  await service.passTime(60_000);
  assert.equal((await ask('/reference')).status, 200);
});
