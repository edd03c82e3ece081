// Keys of an account on the dashboard. Contract: section 3.14.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { SCOPE_USES } from '../../src/domain/scope.ts';
import { call } from '../support/api.ts';
import {
  launchBrowser,
  openDashboard,
  pasteKey,
  accessibilityFaults,
  widestTable,
} from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const service = await startTestService(lifetime, { clock: fakeClock(Date.now()) });
const browser = await startForFile(() => launchBrowser(lifetime));

async function openKeys(key: string, options: Parameters<typeof openDashboard>[2] = {}) {
  const watched = await openDashboard(browser, service.url, options);
  await pasteKey(watched.page, key);
  await watched.page.getByRole('region', { name: 'Keys of the account' }).waitFor();
  return watched;
}

const rowOf = (page: Page, label: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: label }) });

/** The new key that the dialog shows, which goes away when it is closed. */
async function shownKey(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog', { name: 'The new key' });
  const key = await dialog.getByRole('code').innerText();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.ok(!(await page.content()).includes(key), 'the page does not keep the new key');
  return key;
}

const statusOf = async (key: string) => (await call(service.url, '/v1/account', { key })).status;

/** Creates a key with this label. The dialog that shows it stays open. */
async function createKey(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Label').fill(label);
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog', { name: 'The new key' }).waitFor();
}

test('a key is created, shown once, copied, rotated and revoked', async () => {
  const { page, faults, foreign } = await openKeys(await service.issueKey({ account: 'keys' }), {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Label').fill('web');
  const storeWrite = page.getByLabel('store:write');
  const uses = await page.locator(`#${await storeWrite.getAttribute('aria-describedby')}`).innerText();
  assert.equal(uses.toLowerCase(), SCOPE_USES['store:write'], 'each scope says what it is for');
  for (const scope of ['pets:write', 'store:read', 'store:write', 'events:read'])
    await page.getByLabel(scope).uncheck();
  await page.getByLabel('Expires (UTC)').fill('2040-01-31');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('dialog').getByText('Copied.').waitFor();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  const created = await shownKey(page);
  assert.equal(copied, created);
  await rowOf(page, 'web').getByText('2040-01-31 00:00 UTC').waitFor();
  await rowOf(page, 'web').getByText('pets:read', { exact: true }).waitFor();
  const used = rowOf(page, 'web').getByRole('cell', { name: 'never', exact: true });
  await used.waitFor();
  assert.equal(await statusOf(created), 200);

  await page.getByRole('button', { name: 'Rotate web' }).click();
  await page.getByLabel('The old key still works for').selectOption('1 hour');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  const rotated = await shownKey(page);
  await page.getByText('rotated', { exact: true }).waitFor();
  assert.deepEqual([await statusOf(created), await statusOf(rotated)], [200, 200]);

  await page.getByRole('button', { name: 'Revoke web' }).first().click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('revoked', { exact: true }).waitFor();
  assert.equal(await statusOf(rotated), 401);
  assert.deepEqual([foreign, faults], [[], []]);
});

test('Escape and a click beside it do not close the dialog of a new key that nobody has copied', async () => {
  const { page } = await openKeys(await service.issueKey({ account: 'escape' }), {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await createKey(page, 'shown');
  // The browser lets a page refuse the first Escape only.
  for (let times = 0; times < 3; times++) await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  const dialog = page.getByRole('dialog', { name: 'The new key' });
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByRole('status').getByText('Copied.').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
});

test('a new key stays on the page when the key of the page ends meanwhile', async () => {
  const key = await service.issueKey({ account: 'meanwhile' });
  const watched = await openDashboard(browser, service.url);
  const { page } = watched;
  await page.clock.install();
  await pasteKey(page, key);
  await page.getByRole('region', { name: 'Keys of the account' }).waitFor();
  const [{ id }] = (await call(service.url, '/v1/account/keys', { key })).json;
  await createKey(page, 'successor');
  await call(service.url, `/v1/account/keys/${id}`, { method: 'DELETE', key });
  await page.clock.runFor(60_000);
  await page.getByText('The API key has been revoked').waitFor();
  assert.equal(await statusOf(await shownKey(page)), 200);
});

test('to revoke or rotate the key of the page warns what becomes of the page', async () => {
  const key = await service.issueKey({ account: 'warned' });
  const { page } = await openKeys(key);
  await createKey(page, 'other');
  await shownKey(page);
  const own = page.getByRole('row').filter({ hasText: 'this page' });
  const dialog = page.getByRole('dialog');
  const warning = dialog.getByText('This page uses this key');
  for (const action of ['Revoke', 'Rotate']) {
    await rowOf(page, 'other').getByRole('button', { name: action }).click();
    await dialog.waitFor();
    assert.equal(await warning.count(), 0, action);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await own.getByRole('button', { name: action }).click();
    await warning.waitFor();
    if (action === 'Revoke') await dialog.getByText('Revoking it locks this page').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  }
});

test('the keyboard alone opens the account, creates a key and closes dialogs', async () => {
  const key = await service.issueKey({ account: 'keyboard' });
  const { page } = await openDashboard(browser, service.url);
  const { keyboard } = page;
  /** Moves the focus forward until it is on the control with this name. */
  const tabTo = async (name: string) => {
    const focused = "(document.activeElement.labels?.[0] ?? document.activeElement)?.innerText?.trim() ?? ''";
    for (let tabs = 0; (await page.evaluate(focused)) !== name; tabs++) {
      assert.ok(tabs < 60, `the keyboard reaches "${name}"`);
      await keyboard.press('Tab');
    }
  };
  await tabTo('API key');
  await keyboard.insertText(key);
  await keyboard.press('Enter');
  await page.getByRole('region', { name: 'Keys of the account' }).waitFor();
  await tabTo('Create key');
  await keyboard.press('Enter');
  await tabTo('Label');
  await keyboard.insertText('typed');
  await keyboard.press('Enter');
  await tabTo('I have stored it');
  await keyboard.press('Enter');
  await rowOf(page, 'typed').waitFor();
  await tabTo('Create key');
  await keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a change that fails keeps what was typed and says why', async () => {
  const { page } = await openKeys(await service.issueKey({ account: 'failing' }));
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Label').fill('kept');
  await page.getByLabel('Expires (UTC)').fill('2020-01-01');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page
    .getByRole('alert')
    .getByText(/expiresAt/)
    .waitFor();
  assert.equal(await page.getByLabel('Label').inputValue(), 'kept');
  assert.deepEqual(await accessibilityFaults(page), []);
});

test('a key without keys:manage sees the account and the reason why keys are missing', async () => {
  const key = await service.issueKey({ account: 'reader', scopes: ['pets:read'] });
  const { page, faults } = await openDashboard(browser, service.url);
  await pasteKey(page, key);
  await page.getByRole('heading', { name: 'reader' }).waitFor();
  await page.getByText('This key cannot manage keys').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0);
  // A refused request would be an error in the browser's console.
  assert.deepEqual(faults, []);
});

test('a page that rotates its own key then uses the new one', async () => {
  const key = await service.issueKey({ account: 'own' });
  const { page, faults } = await openKeys(key);
  await page.getByRole('button', { name: 'Rotate key' }).click();
  await page.getByText(/From then on, this page uses the new key\./).waitFor();
  await page.getByLabel('The old key still works for').selectOption('no time');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  assert.equal(await statusOf(await shownKey(page)), 200);
  assert.equal(await statusOf(key), 401);
  await page.getByRole('button', { name: 'Refresh' }).click();
  const row = page.getByRole('row').filter({ hasText: 'this page' });
  await row.getByText('active', { exact: true }).waitFor();
  assert.deepEqual(faults, []);
});

test('a key that is revoked while the page is open says so', async () => {
  const key = await service.issueKey({ account: 'ending' });
  const { page } = await openKeys(key);
  await page.getByText('this page', { exact: true }).waitFor();
  const [its] = (await call(service.url, '/v1/account/keys', { key })).json;
  await call(service.url, `/v1/account/keys/${its.id}`, { method: 'DELETE', key });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByRole('alert').getByText('The API key has been revoked').waitFor();
  assert.equal(await page.getByRole('region', { name: 'Keys of the account' }).count(), 0);
});

test('a label with markup is shown as text, and on a phone each of a hundred keys is a card', async () => {
  const key = await service.issueKey({ account: 'many' });
  const hostile = '<img src=x onerror="document.title=1">{{x}}${y}';
  for (let each = 0; each < 100; each++) {
    const label = `${hostile} ${each}`.padEnd(100, 'x').slice(0, 100);
    await service.issueKey({ account: 'many', label, scopes: ['pets:read'] });
  }
  const { page, faults } = await openKeys(key, { viewport: { width: 390, height: 844 } });
  assert.equal(await page.getByRole('row').count(), 102, 'both pages of the list');
  assert.equal(await page.title(), 'Pet Store dashboard');
  assert.equal(await widestTable(page), 0, 'no table scrolls sideways');
  const card = rowOf(page, 'no label');
  await card.scrollIntoViewIfNeeded();
  await card.getByText('this page').waitFor();
  const names = `[...document.querySelectorAll('tbody tr:first-child > *')].map((cell) =>
    getComputedStyle(cell, '::before')).filter(({ display }) => display !== 'none').map(({ content }) => content)`;
  const shown = ['Id', 'Ends with', 'State', 'Scopes', 'Last used', 'Created', 'Expires'].map(
    (name) => `"${name}" / ""`,
  );
  assert.deepEqual(await page.evaluate(names), shown);
  const button = await card.getByRole('button', { name: 'Revoke' }).boundingBox();
  assert.ok(button && button.x >= 0 && button.x + button.width <= 390, 'the buttons are in view');
  assert.deepEqual(faults, []);
});
