// What the dashboard says when a key or the service does not work. Contract: sections 5.1, 6.4, 6.6 and 6.10.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { call } from '../support/api.ts';
import {
  launchBrowser,
  openAccount,
  openDashboard,
  pasteKey,
  showAccount,
  usageShown,
} from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { changeAccount, findAccount } from '../support/store.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const clock = fakeClock(Date.now());
const service = await startTestService(lifetime, { clock, env: { BAN_AFTER: '10' } });
const browser = await startForFile(() => launchBrowser(lifetime));

const shown = await service.issueKey({ account: 'open' });

/** Sends requests until the key is banned. */
async function ban(key: string): Promise<void> {
  for (let sent = 0, code = ''; code !== 'key_banned'; sent++) {
    assert.ok(sent < 50);
    const { status, json } = await call(service.url, '/v1/pets', { key });
    code = status === 429 ? json.code : '';
  }
}

/** The page of the tests that only read why a key is refused. */
const { page: refusing } = await startForFile(() => openDashboard(browser, service.url));

/** Pastes a key that is refused into an empty form, and gives what the page says. */
async function refusal(key: string): Promise<string> {
  await refusing.reload();
  await pasteKey(refusing, key);
  return refusing.locator('.notice').innerText();
}

test('the page says why it does not accept a key', async () => {
  const expired = await service.issueKey({ account: 'expired', expiresAt: Math.floor(clock().unix) + 1 });
  clock.advance(1_000);
  const suspended = await service.issueKey({ account: 'suspended' });
  const owner = await findAccount(service.store.accounts, 'suspended');
  await changeAccount(service.store.accounts, owner?.id ?? 0, { suspended: true });
  const staging = await service.issueKey({ account: 'staging', environment: 'staging' });
  const unknown = /This key does not work\s+/.source;
  assert.match(
    await refusal('petstore_live_wrong'),
    new RegExp(`${unknown}The API key is malformed or mistyped`),
  );
  assert.match(
    await refusal('Bearer petstore_live_x'),
    new RegExp(`${unknown}An API key has only letters, digits and underscores`),
  );
  assert.match(await refusal(expired), new RegExp(`${unknown}The API key has expired`));
  assert.match(await refusal(suspended), new RegExp(`${unknown}The account of this API key is suspended`));
  assert.match(
    await refusal(staging),
    new RegExp(`${unknown}This API key belongs to the staging environment`),
  );
});

/** The service has the time of the machine again, which the browser goes by. */
function catchUp(): void {
  clock.advance(Math.max(0, Date.now() - clock().unix));
}

test('with the limit used up the page opens, and its notice and its card say the same', async () => {
  const key = await service.issueKey({ account: 'used up', limits: { perMinute: 2, perDay: 3 } });
  catchUp();
  for (let sent = 0; sent < 3; sent++) await call(service.url, '/v1/pets', { key });
  const { page } = await openDashboard(browser, service.url);
  await page.clock.install();
  await showAccount(page, key);
  const minute = page.getByText('The limit of this minute is used up');
  await minute.waitFor();
  const notice = page.getByRole('status').filter({ has: minute });
  assert.match(
    await notice.innerText(),
    /The service refuses more until \d{4}-\d\d-\d\d \d\d:\d\d UTC, in (?:\d+ seconds?|1 minute)\./,
  );
  await page.getByText('2 of 2 used').waitFor();
  await page.getByText('2 of 3 used').waitFor();
  // The window ends while the page is open. An answer would set the page back to the time of the service.
  await page.context().setOffline(true);
  await page.clock.runFor(61_000);
  await page.getByText('0 of 2 used').waitFor();
  await minute.waitFor({ state: 'detached' });
  await page.context().setOffline(false);

  clock.advance(60_000);
  await call(service.url, '/v1/pets', { key });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.clock.runFor(100);
  await page.getByText('The limit of this day is used up').waitFor();
  await page.getByText('3 of 3 used').waitFor();
  await page.getByText('1 of 2 used').waitFor();
});

test('a banned key opens the page, which says when the ban ends, and revokes it', async () => {
  const key = await service.issueKey({ account: 'banned', limits: { perMinute: 1, perDay: 1000 } });
  catchUp();
  await ban(key);
  const { page } = await openAccount(browser, service.url, key);
  await page.getByText(/^A key is banned: key \d+$/).waitFor();
  await page.getByText(/The ban ends at \d{4}-\d\d-\d\d \d\d:\d\d UTC, in \d/).waitFor();
  await page.getByText('1 of 1 used').waitFor();
  assert.equal(await page.getByText(/The service refuses more/).count(), 0, 'the ban outlasts the minute');
  await page.getByRole('button', { name: /^Revoke/ }).click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'The key is revoked.' }).waitFor();
  assert.equal((await call(service.url, '/v1/account', { key })).status, 401);
});

test('the other keys of the account see a ban with the time it ends', async () => {
  const limits = { perMinute: 20, perDay: 1000 };
  const [banned, key] = [
    await service.issueKey({ account: 'half', limits }),
    await service.issueKey({ account: 'half' }),
  ];
  await ban(banned);
  clock.advance(60_000);
  const { page } = await openAccount(browser, service.url, key);
  await page.getByText(/^A key is banned: key \d+$/).waitFor();
  await page.getByText(/The ban ends at \d{4}-\d\d-\d\d \d\d:\d\d UTC, in \d/).waitFor();
});

/** Polls of the account that the page sends from now on. */
function polls(page: Page): string[] {
  const sent: string[] = [];
  page.on('request', (request) => void (request.url().endsWith('/v1/account') && sent.push(request.url())));
  return sent;
}

test('the page says since when the service is down, and recovers without a reload', async () => {
  const { page } = await openDashboard(browser, service.url);
  await page.clock.install();
  await pasteKey(page, shown);
  await usageShown(page);
  await page.context().setOffline(true);
  await page.clock.runFor(61_000);
  await page
    .getByText(/Since \d{4}-\d\d-\d\d \d\d:\d\d UTC\. The page keeps trying/)
    .first()
    .waitFor();
  await page.getByRole('heading', { name: 'open' }).waitFor();
  await page.context().setOffline(false);
  await page.clock.runFor(61_000);
  await page.getByText('The page keeps trying').first().waitFor({ state: 'detached' });
});

test('a hidden page sends no requests', async () => {
  const { page } = await openDashboard(browser, service.url);
  await page.clock.install();
  await pasteKey(page, shown);
  await usageShown(page);
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

test('after a refusal the page waits as long as the service says, and calls it no limit of the plan', async () => {
  const key = await service.issueKey({ account: 'waiting' });
  const { page } = await openDashboard(browser, service.url);
  await page.clock.install();
  await pasteKey(page, key);
  await usageShown(page);
  for (let sent = 0; sent < 60; sent++) await call(service.url, '/v1/account', { key });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.clock.runFor(100);
  const refused = page.getByText('This page must wait a moment').first();
  await refused.waitFor();
  await page.getByText('It does not concern the limits of your plan').first().waitFor();
  assert.equal(await page.getByText(/The limit of this .* is used up/).count(), 0);
  const sent = polls(page);
  await page.clock.runFor(50_000);
  assert.deepEqual(sent, []);
});

test('a Retry-After of weeks, for which no timer is long enough, does not make the page ask at once', async () => {
  const { page } = await openAccount(browser, service.url, shown);
  const sent = polls(page);
  const answer = { status: 503, headers: { 'Retry-After': '3000000' } };
  await page.route('**/v1/account', (route) => route.fulfill(answer));
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('The page keeps trying').first().waitFor();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
  assert.equal(sent.length, 1);
});
