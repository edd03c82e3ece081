// Webhooks of an account on the dashboard. Contract: section 13.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { EVENTS } from '../../src/resources/operations.ts';
import { requireValue } from '../storage/fixture.ts';
import { call } from '../support/api.ts';
import {
  launchBrowser,
  openAccount,
  openDashboard,
  pasteKey,
  SCREENS,
  accessibilityFaults,
  sideways,
} from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const clock = fakeClock(Date.now());
const service = await startTestService(lifetime, { clock, env: { WEBHOOKS_ALLOW_PRIVATE: 'true' } });
const browser = await startForFile(() => launchBrowser(lifetime));

const SECRET = 'The secret of the webhook';

const card = (page: Page) => page.getByRole('region', { name: 'Webhooks', exact: true });
const button = (place: Page | Locator, name: string | RegExp) =>
  place.getByRole('button', { name, exact: true });
const table = (page: Page, name: string) => page.getByRole('region', { name });
const attempts = (page: Page) => table(page, 'Attempts of the webhook').locator('tbody').getByRole('row');

/** Presses a button of the open webhook, and the one with the same name in its dialog. */
async function act(page: Page, name: string): Promise<void> {
  await button(card(page), name).click();
  await button(page.getByRole('dialog'), name).click();
}

/** The secret that the dialog shows, which goes away when it is closed. */
async function shownSecret(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog', { name: SECRET });
  const secret = await dialog.getByRole('code').innerText();
  await button(dialog, 'I have stored it').click();
  await dialog.waitFor({ state: 'detached' });
  assert.ok(!(await page.content()).includes(secret), 'the page does not keep the secret');
  return secret;
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('status').getByText(text).waitFor();
}

/** Adds a webhook through the API, and opens it on the page of a new account. */
async function openWebhook(account: string, url: string, types: readonly string[] = ['category.*']) {
  const key = await service.issueKey({ account });
  const send = (path: string, body: object) =>
    call(service.url, `/v1${path}`, { key, body: JSON.stringify(body) });
  const { json } = await send('/webhooks', { url, types });
  const watched = await openDashboard(browser, service.url);
  await watched.page.clock.install();
  await pasteKey(watched.page, key);
  await button(watched.page, `Open ${url}`).click();
  return {
    ...watched,
    id: json.id as number,
    send,
    read: (path: string) => call(service.url, `/v1${path}`, { key }),
  };
}

test('a webhook is added with its types, and its secret is shown once', async () => {
  const { page, faults, foreign } = await openAccount(
    browser,
    service.url,
    await service.issueKey({ account: 'adds' }),
  );
  await button(page, 'Add a webhook').click();
  await page.getByLabel('URL').fill('http://127.0.0.1:1/hooks');
  await page.getByLabel('Description').fill('The shop.');
  await page.getByLabel('order.*').check();
  await page.getByLabel('pet.created').check();
  await button(page, 'Add').click();
  assert.match(await shownSecret(page), /^whsec_/);
  const row = table(page, 'Webhooks of the account').locator('tbody').getByRole('row');
  await row.getByRole('rowheader', { name: 'http://127.0.0.1:1/hooks' }).waitFor();
  for (const text of ['The shop.', 'order.* pet.created', 'enabled'])
    await row.getByText(text, { exact: true }).waitFor();
  assert.deepEqual([faults, foreign], [[], []]);
});

test('a webhook that is refused keeps what was typed and says which rule it breaks', async () => {
  const key = await service.issueKey({ account: 'refused' });
  const { page } = await openAccount(browser, service.url, key);
  await button(page, 'Add a webhook').click();
  await page.getByLabel('URL').fill('ftp://shop.example');
  await button(page, 'Add').click();
  await page.getByRole('alert').getByText('must begin with https://').waitFor();
  assert.equal(await page.getByLabel('URL').inputValue(), 'ftp://shop.example');
  assert.deepEqual(await accessibilityFaults(page), []);
});

test('a choice of types says when each comes, who sees it and what is sent, and whether the key sees it', async () => {
  const scopes = ['pets:read', 'keys:manage', 'webhooks:manage'] as const;
  const key = await service.issueKey({ account: 'chooses', scopes });
  const { page } = await openAccount(browser, service.url, key);
  await button(page, 'Add a webhook').click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  for (const [kind, { types }] of Object.entries(EVENTS)) {
    const group = dialog.getByRole('group', { name: `${kind}.*` });
    assert.equal(await group.getByRole('checkbox').count(), 1 + Object.keys(types).length);
    for (const [type, { when, readers, example }] of Object.entries(types)) {
      const text = await group.getByLabel(type).getAttribute('aria-describedby');
      const hint = await page.locator(`[id="${text}"]`).innerText();
      assert.equal(hint, kind === 'order' ? `${when} This key does not see it: it lacks store:read.` : when);
      await group.getByText(`of ${type}`).locator('..').click();
      await group.getByText(readers.replaceAll('`', '')).first().waitFor();
      await group.getByText(`"type": "${type}"`).waitFor();
      assert.ok(JSON.stringify(example).includes(type));
    }
  }
  await dialog.getByLabel('key.revoked').check();
  await dialog.getByLabel('key.*').check();
  assert.equal(await dialog.getByLabel('key.revoked').count(), 0, 'the group has it');
});

test('a webhook has an address that a reload and "back" find again', async () => {
  const { page, id } = await openWebhook('address', 'http://127.0.0.1:1/hooks');
  await button(card(page), 'Test').waitFor();
  assert.equal(new URL(page.url()).hash, `#webhook-${id}`);
  await page.reload();
  await button(card(page), 'Test').waitFor();
  await page.goBack();
  await button(card(page), 'Test').waitFor({ state: 'detached' });
});

test('what is changed of a webhook is sent, and nothing else', async () => {
  const { page, id, read } = await openWebhook('changes', 'http://127.0.0.1:1/hooks', ['order.*']);
  await button(card(page), 'Change').click();
  const dialog = page.getByRole('dialog', { name: 'Change the webhook' });
  assert.equal(await dialog.getByLabel('URL').inputValue(), 'http://127.0.0.1:1/hooks');
  await dialog.getByLabel('Description').fill('The shop.');
  const [patch] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'PATCH'),
    button(dialog, 'Save').click(),
  ]);
  assert.deepEqual(patch.postDataJSON(), { description: 'The shop.' });
  await say(page, 'The webhook is changed.');
  await card(page).getByText('The shop.').waitFor();
  await button(card(page), 'Change').click();
  await dialog.getByLabel('order.*').uncheck();
  await dialog.getByLabel('pet.deleted').check();
  await button(dialog, 'Save').click();
  await card(page).getByText('pet.deleted', { exact: true }).waitFor();
  await button(card(page), 'Change').click();
  await dialog.getByLabel('URL').fill('ftp://shop.example');
  await button(dialog, 'Save').click();
  await dialog.getByRole('alert').getByText('must begin with https://').waitFor();
  const { json } = await read(`/webhooks/${id}`);
  assert.deepEqual([json.types, json.description], [['pet.deleted'], 'The shop.']);
});

test('a test is sent at once, and its attempt is listed with its result', async () => {
  const endpoint = await startEndpoint(lifetime, [503]);
  const { page } = await openWebhook('tests', endpoint.url);
  await act(page, 'Test');
  await say(page, 'The test failed: 503.');
  await act(page, 'Test');
  await say(page, 'The test succeeded: 204.');
  assert.equal(endpoint.received.length, 2);
  await attempts(page).nth(1).getByText('failed 503').waitFor();
  await page.getByLabel('Attempts', { exact: true }).selectOption('Succeeded');
  await attempts(page).nth(1).waitFor({ state: 'detached' });
  await attempts(page).getByText('succeeded 204').waitFor();
  assert.equal(await button(card(page), /^Redeliver/).count(), 0, 'a test is never delivered again');
  await button(attempts(page), /^Details/).click();
  const dialog = page.getByRole('dialog', { name: 'webhook.test, attempt 1' });
  const { headers, body } = endpoint.received.at(-1) ?? assert.fail();
  await dialog.getByText(`webhook-signature: ${String(headers['webhook-signature'])}`).waitFor();
  await dialog.getByText(body, { exact: true }).waitFor();
  assert.deepEqual(await accessibilityFaults(page), []);
  await button(dialog, 'Close').click();
});

test('the attempts update by themselves, and an event is delivered again and replayed', async () => {
  const endpoint = await startEndpoint(lifetime);
  const { page, id, send } = await openWebhook('delivers', endpoint.url);
  await page.getByText('There is no such attempt yet.').waitFor();
  const since = new Date(clock().unix - 60_000).toISOString().slice(0, 16);
  await send('/categories', { name: 'Parrots' });
  /** Waits until the service has written this attempt, and then until the page has asked for it. */
  const update = async (count: number) => {
    const query = { limit: 100, cursor: undefined };
    await until(async () => {
      const list = await service.store.webhooks.listDeliveries(id, undefined, query);
      return requireValue(list).items.length === count;
    });
    await page.clock.runFor(31_000);
    await attempts(page)
      .nth(count - 1)
      .waitFor();
  };
  await update(1);
  await attempts(page).getByText('category.created', { exact: true }).waitFor();
  await button(page, /^Redeliver/).click();
  await button(page.getByRole('dialog'), 'Redeliver').click();
  await say(page, 'category.created will be sent again.');
  await update(2);
  await button(card(page), 'Replay').click();
  await page.getByLabel('Since (UTC)').fill(since);
  await button(page.getByRole('dialog'), 'Replay').click();
  await say(page, 'The events will be sent.');
  await update(3);
  assert.equal(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size, 1);
});

test('a secret is rotated, and the second rotation within a day is refused', async () => {
  const { page } = await openWebhook('rotates', 'http://127.0.0.1:1/');
  await act(page, 'Rotate');
  assert.match(await shownSecret(page), /^whsec_/);
  await act(page, 'Rotate');
  await page.getByRole('dialog').getByRole('alert').waitFor();
});

test('a webhook is disabled, tested while it is, enabled and deleted', async () => {
  const endpoint = await startEndpoint(lifetime);
  const { page, faults } = await openWebhook('switches', endpoint.url);
  await act(page, 'Disable');
  await card(page).getByText('on request').waitFor();
  await act(page, 'Test');
  await say(page, 'The webhook is disabled: it gets no other events.');
  await act(page, 'Enable');
  await card(page).getByText('enabled', { exact: true }).waitFor();
  await act(page, 'Delete');
  await page.getByText('This account has no webhook yet.').waitFor();
  assert.equal(await button(card(page), 'Test').count(), 0);
  assert.deepEqual(faults, []);
});

test('the keyboard alone opens a webhook, tests it and closes dialogs', async () => {
  const endpoint = await startEndpoint(lifetime);
  const { page } = await openWebhook('types', endpoint.url);
  const { keyboard } = page;
  /** Moves the focus with the Tab key alone, and presses Enter. */
  const press = async (place: Locator) => {
    for (let tabs = 0; (await place.and(page.locator(':focus')).count()) === 0; tabs++) {
      assert.ok(tabs < 100, String(place));
      await keyboard.press('Tab');
    }
    await keyboard.press('Enter');
  };
  const open = button(page, `Open ${endpoint.url}`);
  await press(open);
  await button(card(page), 'Test').waitFor({ state: 'detached' });
  assert.equal(await open.getAttribute('aria-pressed'), 'false');
  await keyboard.press('Enter');
  await press(button(card(page), 'Test'));
  await page.getByRole('dialog').waitFor();
  await keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await keyboard.press('Enter');
  await press(button(page.getByRole('dialog'), 'Test'));
  await attempts(page).getByText('webhook.test').waitFor();
});

test('a key without webhooks:manage sees why webhooks are missing, and asks for none', async () => {
  const key = await service.issueKey({ account: 'reader', scopes: ['pets:read', 'keys:manage'] });
  const { page, faults } = await openAccount(browser, service.url, key);
  await page.getByText('This key cannot manage webhooks').waitFor();
  assert.equal(await button(page, 'Add a webhook').count(), 0);
  // A refused request would be an error in the browser's console.
  assert.deepEqual(faults, []);
});

test('where the service has no webhooks, the page says so', async () => {
  const off = await startTestService(lifetime, { clock, env: { WEBHOOKS: 'off' } });
  const { page } = await openAccount(browser, off.url, await off.issueKey());
  await card(page).getByText('This deployment has no webhooks.').waitFor();
  assert.equal(await button(page, 'Add a webhook').count(), 0);
});

for (const { device, options } of SCREENS) {
  test(`on a ${device}, webhooks have no accessibility fault`, async () => {
    const endpoint = await startEndpoint(lifetime, [503]);
    const url = `${endpoint.url}/${'x'.repeat(2_000)}`;
    const key = await service.issueKey({ account: device });
    const send = (path: string, body: object) =>
      call(service.url, `/v1${path}`, { key, body: JSON.stringify(body) });
    const description = '<img src=x onerror="document.title=1">'.repeat(5);
    const { json } = await send('/webhooks', { url, description });
    await send(`/webhooks/${json.id}/test`, {});
    const { page, faults } = await openAccount(browser, service.url, key, options);
    await button(page, `Open ${url}`).click();
    await attempts(page).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await sideways(page)) <= 0, 'the page need not be scrolled sideways');
    for (const name of ['Replay', 'Add a webhook']) {
      await button(card(page), name).click();
      await page.getByRole('dialog').waitFor();
      assert.deepEqual(await accessibilityFaults(page), [], name);
      await button(page.getByRole('dialog'), 'Cancel').click();
    }
    assert.equal(await page.title(), 'Pet Store dashboard');
    assert.deepEqual(faults, []);
  });
}
