// Webhooks on the console. Contract: section 13.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { requireValue } from '../storage/fixture.ts';
import { call } from '../support/api.ts';
import { launchBrowser, SCREENS, accessibilityFaults, sideways } from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { startTestConsole } from '../support/console.ts';
import { loaded, showPage, visitConsole } from '../support/console-page.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { until } from '../support/until.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const clock = fakeClock(Date.now());
const service = await startTestConsole(lifetime, { clock, env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } });
const browser = await startForFile(() => launchBrowser(lifetime));

const ALL = { limit: 100, cursor: undefined };

/** A webhook of a new account whose endpoint answers 503, after its first attempt has failed. */
async function addFailing(account: string) {
  const key = await service.issueKey({ account });
  const endpoint = await startEndpoint(
    lifetime,
    Array.from({ length: 100 }, () => 503),
  );
  const send = (path: string, body?: object) =>
    call(service.url, `/v1${path}`, { key, ...(body && { body: JSON.stringify(body) }) });
  const description = '<img src=x onerror="document.title=1">';
  const { json } = await send('/webhooks', { url: endpoint.url, types: ['category.*'], description });
  await send('/categories', { name: account });
  // Not through the API, whose holders may ask 60 times a minute.
  const list = async () =>
    requireValue(await service.store.webhooks.listDeliveries(json.id, undefined, ALL)).items;
  await until(async () => (await list()).length > 0);
  const accountId = requireValue(await service.store.accounts.find(account)).id;
  return { id: json.id as number, accountId, url: endpoint.url, send };
}

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const button = (place: Page | Locator, name: string) => place.getByRole('button', { name, exact: true });
const rows = (place: Page | Locator, name: string) =>
  place.getByRole('region', { name, exact: true }).locator('tbody').getByRole('row');

async function press(page: Page, place: Locator): Promise<void> {
  await place.waitFor();
  for (let tabs = 0; (await place.and(page.locator(':focus')).count()) === 0; tabs++) {
    assert.ok(tabs < 100, `the Tab key reaches ${String(place)}`);
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
}

test('a viewer sees on the overview which webhooks fail, and their attempts, and cannot switch one', async () => {
  const { id, accountId, url } = await addFailing('failing shelter');
  const { page, faults, foreign } = await visitConsole(browser, service, { name: 'vera', role: 'viewer' });
  await showPage(page, `${service.consoleUrl}/`, 'Overview');
  const failing = card(page, 'Webhooks that fail');
  const row = rows(failing, 'Webhooks').filter({ hasText: url });
  await row.getByText(/^since/).waitFor();
  assert.equal(
    await row.getByRole('link', { name: 'failing shelter' }).getAttribute('href'),
    `/accounts/${accountId}`,
  );
  await button(row, `Attempts of webhook ${id}`).click();
  await rows(failing, 'Attempts').getByText('failed 503').waitFor();
  await page.getByLabel('Result').selectOption('Succeeded');
  await failing.getByText('There is no such attempt.').waitFor();
  assert.equal(await button(row, `Disable webhook ${id}`).count(), 0);
  assert.deepEqual([faults, foreign], [[], []]);
});

test('an admin disables and enables a webhook of an account with the keyboard alone', async () => {
  const { id, accountId, send } = await addFailing('hill shelter');
  const other = await addFailing('other shelter');
  const { page, faults } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/accounts/${accountId}`, 'hill shelter');
  const webhooks = card(page, 'Webhooks');
  await press(page, button(webhooks, `Disable webhook ${id}`));
  await press(page, button(page.getByRole('dialog'), 'Disable'));
  await page.getByRole('status').getByText(`Webhook ${id} is disabled.`).waitFor();
  await webhooks.getByText('on request').waitFor();
  assert.equal((await send(`/webhooks/${id}`)).json.enabled, false);
  await press(page, button(webhooks, `Enable webhook ${id}`));
  await press(page, button(page.getByRole('dialog'), 'Enable'));
  await webhooks.getByText('enabled', { exact: true }).waitFor();
  assert.equal((await send(`/webhooks/${id}`)).json.enabled, true);
  assert.equal(await button(webhooks, `Attempts of webhook ${other.id}`).count(), 0, 'of another account');
  assert.deepEqual(faults, []);
});

test('who revokes a key is told of its webhooks', async () => {
  const { accountId, url } = await addFailing('river shelter');
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/accounts/${accountId}`, 'river shelter');
  await page.getByRole('button', { name: /^Revoke key/ }).click();
  await page.getByRole('dialog').getByText(url).waitFor();
});

test('the attempts of a webhook update by themselves', async () => {
  const { id, accountId, send } = await addFailing('lake shelter');
  const { page } = await visitConsole(browser, service);
  await page.clock.install();
  await showPage(page, `${service.consoleUrl}/accounts/${accountId}`, 'lake shelter');
  await button(page, `Attempts of webhook ${id}`).click();
  await rows(page, 'Attempts').getByText('category.created').waitFor();
  await send(`/webhooks/${id}/test`, {});
  await page.clock.runFor(6_000);
  await rows(page, 'Attempts').getByText('webhook.test').waitFor();
});

for (const { device, options } of SCREENS) {
  test(`on a ${device}, the webhooks of an account have no accessibility fault`, async () => {
    const { id, accountId } = await addFailing(device);
    const { page, faults } = await visitConsole(browser, service, { options });
    for (const [path, heading] of [
      ['/', 'Overview'],
      [`/accounts/${accountId}`, device],
    ] as const) {
      await showPage(page, `${service.consoleUrl}${path}`, heading);
      await button(page, `Attempts of webhook ${id}`).click();
      await rows(page, 'Attempts').waitFor();
      await loaded(page);
      assert.deepEqual(await accessibilityFaults(page), [], path);
      assert.ok((await sideways(page)) <= 0, `${path} need not be scrolled sideways`);
    }
    await button(page, `Disable webhook ${id}`).click();
    await page.getByRole('dialog').waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.deepEqual(faults, []);
  });
}
