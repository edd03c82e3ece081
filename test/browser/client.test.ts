import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { launchBrowser } from '../support/browser.ts';
import { projectWithClient } from '../support/packed-client.ts';
import { startTestService } from '../support/service.ts';
import { test } from '../support/test.ts';

/** Serves an empty page and the files of the packed client, as a site that uses it would. */
async function startSite(t: TestContext): Promise<string> {
  const project = await projectWithClient(t);
  const scripts = new Map(
    project.files
      .filter((file) => file.endsWith('.js'))
      .map((file) => [`/${file}`, project.read(`node_modules/petstore-client/${file}`)]),
  );
  const site = createServer(({ url = '/' }, response) => {
    const script = scripts.get(url);
    if (script === undefined) {
      response.writeHead(url === '/' ? 200 : 404, { 'Content-Type': 'text/html' });
      response.end('<!doctype html><link rel="icon" href="data:,"><title>Shop</title>');
    } else {
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(script);
    }
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  t.after(() => site.close());
  return `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
}

/** What runs in the page: one animal is added, and then as much is listed as the minute admits. */
function scriptOf(options: { apiKey: string; baseUrl: string; requests: number }): string {
  return `(async ({ apiKey, baseUrl, requests }) => {
    const { PetStore, RateLimitError } = await import('/dist/index.js');
    const client = new PetStore({ apiKey, baseUrl, maxWait: 5_000 });
    const created = await client.pets.create({ name: 'Rex', categoryId: 2n ** 60n, status: 'sold' });
    const { pets } = await client.pets.list();
    const { limit, remaining } = client.rateLimit.minute;
    const missing = await Promise.resolve().then(() => new PetStore()).catch((reason) => reason);
    for (let sent = 2; sent < requests; sent++) await client.pets.list({ limit: 1 });
    // Before it is refused, only \`RateLimit\` tells how long the rest of the minute is: the clocks of page and service differ.
    const paced = await new PetStore({ apiKey, baseUrl, maxWait: 5_000, pace: true }).pets.list().catch((reason) => reason);
    const error = await client.pets.list().catch((reason) => reason);
    return {
      created: String(created.id),
      listed: pets.map(({ id, name, categoryId }) => [String(id), name, String(categoryId)]),
      limit,
      remaining,
      areRateLimitErrors: [paced, error].map((reason) => reason instanceof RateLimitError),
      pacedStatus: String(paced.status),
      missing: String(missing),
      retryIn: [paced, error].map(({ retryAt }) => (retryAt - Date.now()) / 1000),
      code: error.code,
      requestId: error.requestId,
      resetsAt: [error.rateLimit.minute, error.rateLimit.day].map(({ resetsAt }) => resetsAt.toISOString()),
    };
  })(${JSON.stringify(options)})`;
}

test('the client works in a page of another origin, with rate limit and Retry-After', async (t) => {
  const site = await startSite(t);
  const service = await startTestService(t);
  const { perMinute } = PLANS.free;
  const apiKey = await service.issueKey({ limits: PLANS.free });
  const page = await (await launchBrowser(t)).newPage();
  await page.goto(site);
  const options = { apiKey, baseUrl: `${service.url}/v1`, requests: perMinute };
  const { created, requestId, retryIn, ...rest } = await page.evaluate<Record<string, unknown>>(
    scriptOf(options),
  );
  assert.deepEqual(rest, {
    listed: [[created, 'Rex', String(2n ** 60n)]],
    limit: perMinute,
    remaining: perMinute - 2,
    areRateLimitErrors: [true, true],
    pacedStatus: 'undefined',
    code: 'rate_limit_exceeded',
    missing:
      'TypeError: apiKey is missing: give new PetStore({ apiKey }), or set the environment variable PETSTORE_API_KEY.',
    resetsAt: ['2026-11-21T12:01:00.000Z', '2026-11-22T00:00:00.000Z'],
  });
  assert.ok(typeof requestId === 'string' && requestId !== '');
  for (const seconds of retryIn as number[]) {
    assert.ok(seconds > 5 && seconds <= 61, String(seconds));
  }
});
