// The dashboard for holders of a key. Contract: sections 3.13 and 3.14.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { HOUR } from '../../src/domain/usage.ts';
import {
  launchBrowser,
  openDashboard,
  pasteKey,
  SCREENS,
  seriousFaults,
  sideways,
} from '../support/browser.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const clock = fakeClock(Date.now());
const service = await startTestService(lifetime, { clock, env: { BAN_AFTER: '10' } });
const browser = await launchBrowser(lifetime);

/** Bytes, compressed: everything that the page loads before a key is pasted, and the description. */
const MOST_BYTES = 150 * 1024;
const LONG =
  'The shelter at the harbour, with the longest name that an account may have: a hundred characters, ok';
const HOSTILE = '<img src=x onerror="document.title=1">';

let sequence = 0;

/** The key calls an operation `times` times in each hour of the last 90 days. */
async function use(keyId: number, operation: string, times: number): Promise<void> {
  const last = Math.floor(Date.now() / HOUR);
  const counts = Array.from({ length: 90 * 24 }, (_, ago) => ({
    hour: last - ago,
    keyId,
    operation,
    counts: [times, 1, 0, 0] as const,
  }));
  await service.store.usageHistory.add({ writer: 'test', sequence: ++sequence, counts });
}

/** A key of an account with hostile labels, many calls, and calls of a deprecated operation. */
async function busyKey(account: string): Promise<string> {
  const key = await service.issueKey({ account });
  for (const label of [HOSTILE, 'x'.repeat(100)])
    await call(service.url, '/v1/account/keys', {
      key,
      body: JSON.stringify({ label, scopes: ['pets:read'] }),
    });
  const { json: keys } = await call(service.url, '/v1/account/keys', { key });
  const [long, hostile, first] = keys as { id: number }[];
  await use(first?.id ?? 0, 'listPets', 400_000);
  await use(hostile?.id ?? 0, 'getPet', 10);
  await use(long?.id ?? 0, 'createPet', 1);
  return key;
}

async function openAccount(key: string, options: Parameters<typeof openDashboard>[2] = {}) {
  const watched = await openDashboard(browser, service.url, options);
  await pasteKey(watched.page, key);
  await watched.page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Your account' }).waitFor();
  await watched.page.getByRole('region', { name: 'Keys of the account' }).waitFor();
  // The usage of the last seconds may not be written yet.
  await watched.page.locator('canvas, .plot .empty').first().waitFor();
  return watched;
}

const shown = await busyKey(LONG);

for (const { device, options } of SCREENS) {
  test(`the dashboard has no serious accessibility fault on a ${device}`, async () => {
    const { page: signIn } = await openDashboard(browser, service.url, options);
    assert.deepEqual(await seriousFaults(signIn), []);
    const { page, foreign, faults } = await openAccount(shown, options);
    await page.getByRole('heading', { name: LONG }).waitFor();
    await page.getByText('getPet is deprecated').waitFor();
    assert.deepEqual(await seriousFaults(page), []);
    assert.ok((await sideways(page)) <= 0, 'the page need not be scrolled sideways');
    await page.getByRole('button', { name: 'Create a key' }).click();
    assert.deepEqual(await seriousFaults(page), []);
    assert.deepEqual([foreign, faults], [[], []]);
  });
}

test('the dashboard loads less than 150 KiB from this service alone, each file at once', async () => {
  const { page, foreign } = await openDashboard(browser, service.url);
  const loaded =
    "performance.getEntriesByType('resource').map(({ name, encodedBodySize }) => [name, encodedBodySize])";
  await pasteKey(page, shown);
  await page.getByText('getPet is deprecated').waitFor();
  const files = (await page.evaluate<[string, number][]>(loaded)).filter(([name]) => !name.includes('/v1/'));
  const bytes = files.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(bytes > 0 && bytes < MOST_BYTES, `${bytes} bytes`);
  const preloaded = await page.evaluate<string[]>(
    "[...document.querySelectorAll('link[rel=modulepreload]')].map(({ href }) => href)",
  );
  assert.deepEqual(
    files.map(([name]) => name).filter((name) => name.endsWith('.js') && !preloaded.includes(name)),
    [],
  );
  assert.deepEqual(foreign, []);
});

test('the policy of the dashboard allows its own files and its import map, and no framing', async () => {
  const { headers } = await call(service.url, '/dashboard');
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self' 'sha256-[^' ]+'; style-src 'self';/);
  assert.match(policy, /form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

test('the account page shows plan, windows, usage and what is deprecated', async () => {
  const { page } = await openAccount(shown);
  await page.getByText('enterprise', { exact: true }).waitFor();
  await page
    .getByText(/of 1,000,000,000 left/)
    .first()
    .waitFor();
  const notice = page.getByRole('status').filter({ hasText: 'getPet is deprecated' });
  assert.match(
    await notice.innerText(),
    /will be removed on 2030-12-05\s+This account called it [1-9],\d{3} times/,
  );
  assert.match(
    await notice.innerText(),
    new RegExp(`${new Date().toISOString().slice(0, 10)} \\(UTC\\)\\. Use GET /pets`),
  );
  for (const [range, rows] of [
    ['Day', 24],
    ['Quarter', 90],
    ['Month', 30],
  ] as const) {
    await page.getByRole('button', { name: range }).click();
    const chart = page.getByRole('region', { name: 'Requests by operation' });
    await chart.getByRole('listitem').filter({ hasText: 'getPet' }).waitFor();
    await chart.getByRole('button', { name: 'Table' }).click();
    assert.equal(await chart.getByRole('row').count(), rows + 1, range);
    await chart.getByRole('button', { name: 'Table' }).click();
  }
  await page.getByRole('region', { name: 'Requests by key' }).getByText(HOSTILE).waitFor();
  assert.equal(await page.title(), 'Pet Store dashboard', 'a label is text');
});

test('the key is in no storage, cookie, address or source of the page', async () => {
  const { page } = await openAccount(shown);
  const traces = await page.evaluate<string[]>(`(async () => [
    location.href, document.cookie, document.referrer, document.documentElement.outerHTML, JSON.stringify(history.state),
    JSON.stringify({ ...localStorage, ...sessionStorage }),
    JSON.stringify(await indexedDB.databases()), JSON.stringify(await caches.keys()),
    ...Array.from(document.querySelectorAll('input'), ({ value }) => value),
  ])()`);
  assert.deepEqual(
    traces.filter((text) => text.includes(shown)),
    [],
  );
  await page.reload();
  await page.getByLabel('API key').waitFor();
  assert.equal(await page.getByLabel('API key').inputValue(), '', 'a reload forgets the key');
});

test('"Forget the key" goes back to the empty form', async () => {
  const { page } = await openAccount(shown);
  await page.getByRole('button', { name: 'Forget the key' }).click();
  assert.equal(await page.getByLabel('API key').inputValue(), '');
  assert.equal(await page.getByLabel('API key').getAttribute('type'), 'password');
  assert.equal(await page.getByLabel('API key').getAttribute('autocomplete'), 'off');
});

/** Sends requests until the key is banned. */
async function ban(key: string): Promise<void> {
  for (let sent = 0, code = ''; code !== 'key_banned'; sent++) {
    assert.ok(sent < 50);
    const { status, json } = await call(service.url, '/v1/pets', { key });
    code = status === 429 ? json.code : '';
  }
}

/** Pastes a key that is refused, and gives what the page says. */
async function refusal(key: string): Promise<string> {
  const { page } = await openDashboard(browser, service.url);
  await pasteKey(page, key);
  const text = await page.locator('.notice').innerText();
  await page.context().close();
  return text;
}

test('the page says why it does not accept a key', async () => {
  const expired = await service.issueKey({ account: 'expired', expiresAt: Math.floor(clock().unix) - 1 });
  const suspended = await service.issueKey({ account: 'suspended' });
  const owner = await service.store.accounts.findAccount('suspended');
  await service.store.accounts.suspendAccount(owner?.id ?? 0);
  const staging = await service.issueKey({ account: 'staging', environment: 'staging' });
  const unknown = /This key does not work\s+/.source;
  assert.match(
    await refusal('petstore_live_wrong'),
    new RegExp(`${unknown}The API key is malformed or mistyped`),
  );
  assert.match(await refusal(expired), new RegExp(`${unknown}The API key has expired`));
  assert.match(await refusal(suspended), new RegExp(`${unknown}The account of this API key is suspended`));
  assert.match(
    await refusal(staging),
    new RegExp(`${unknown}This API key belongs to the staging environment`),
  );
});

test('a limit that is used up and a ban are shown with the time they end', async () => {
  const key = await service.issueKey({ account: 'banned', limits: { perMinute: 1, perDay: 1000 } });
  await call(service.url, '/v1/pets', { key });
  const end = /It ends at \d{4}-\d\d-\d\d \d\d:\d\d UTC\./;
  const used = await refusal(key);
  assert.match(used, /The requests of this minute are used up/);
  assert.match(used, end);
  await ban(key);
  const banned = await refusal(key);
  assert.match(banned, /This key is banned for a while/);
  assert.match(banned, end);
});

test('the other keys of the account see a ban with the time it ends', async () => {
  const limits = { perMinute: 20, perDay: 1000 };
  const [banned, key] = [
    await service.issueKey({ account: 'half', limits }),
    await service.issueKey({ account: 'half' }),
  ];
  await ban(banned);
  clock.advance(60_000);
  const { page } = await openAccount(key);
  await page.getByText(/^Key \d+ is banned$/).waitFor();
  await page.getByText(/The ban ends at \d{4}-\d\d-\d\d/).waitFor();
});

/** Polls of the account that the page sends from now on. */
function polls(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => void (request.url().endsWith('/v1/account') && sent.push(request.url())));
  return sent;
}

test('the page says since when the service is down, and goes on by itself', async () => {
  const { page } = await openDashboard(browser, service.url);
  await page.clock.install();
  await pasteKey(page, shown);
  await page.locator('canvas').first().waitFor();
  await page.context().setOffline(true);
  await page.clock.runFor(61_000);
  await page
    .getByText(/Since \d{4}-\d\d-\d\d \d\d:\d\d UTC\. The page goes on by itself/)
    .first()
    .waitFor();
  await page.getByRole('heading', { name: LONG }).waitFor();
  await page.context().setOffline(false);
  await page.clock.runFor(61_000);
  await page.getByText('The page goes on by itself').first().waitFor({ state: 'detached' });
});

test('the page asks for nothing while it is hidden', async () => {
  const { page } = await openDashboard(browser, service.url);
  await page.clock.install();
  await pasteKey(page, shown);
  await page.locator('canvas').first().waitFor();
  const hide = (isHidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`,
    );
  await hide(true);
  const sent = polls(page);
  await page.clock.runFor(600_000);
  assert.deepEqual(sent, []);
  const [request] = await Promise.all([
    page.waitForRequest('**/v1/account'),
    hide(false),
    page.clock.runFor(1_000),
  ]);
  assert.equal((await request.response())?.status(), 200);
});

test('after a refusal the page waits as long as the service says', async () => {
  const key = await service.issueKey({ account: 'waiting', limits: { perMinute: 5, perDay: 1_000 } });
  const { page } = await openDashboard(browser, service.url);
  await page.clock.install();
  await pasteKey(page, key);
  await page.locator('canvas, .empty').first().waitFor();
  await call(service.url, '/v1/pets', { key });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.clock.runFor(100);
  await page.getByText('The requests of this minute are used up').first().waitFor();
  const sent = polls(page);
  await page.clock.runFor(50_000);
  assert.deepEqual(sent, []);
});
