// Contract: section 10.1.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { call } from '../support/api.ts';
import { launchBrowser, SCREENS, accessibilityFaults, sideways, widestTable } from '../support/browser.ts';
import { startTestConsole } from '../support/console.ts';
import { showPage, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const service = await startTestConsole(lifetime);
const browser = await startForFile(() => launchBrowser(lifetime));
const LIMIT = 'The parameter limit must be an integer from 1 to 100.';

const table = (page: Page) => page.getByRole('region', { name: 'Refused and failed requests' });
const same = (page: Page) => page.getByRole('region', { name: 'Failed requests', exact: true });

/** Three requests with one cause and one with another, of the account `shelter 7`, and one of `noisy`. */
async function seed(): Promise<void> {
  const key = await service.issueKey({ account: 'shelter 7' });
  for (const id of ['first', 'second', 'third']) {
    const headers = { 'x-request-id': id, 'user-agent': 'shop-frontend/2.1' };
    await call(service.url, '/v1/pets?limit=0', { key, headers });
  }
  await call(service.url, '/v1/pets/77', { key });
  await call(service.url, '/v1/nothing', { key: await service.issueKey({ account: 'noisy' }) });
}

await seed();

test('failed requests with the same cause are one row that says why and how often', async () => {
  const { page, faults, foreign } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/failed-requests`, 'Failed requests');
  const row = table(page).getByRole('row', { name: LIMIT });
  assert.equal(await row.count(), 1);
  for (const text of ['invalid_parameter', 'GET /v1/pets', 'List animals', 'shelter 7', '3'])
    await row.getByText(text, { exact: true }).first().waitFor();
  assert.equal(await table(page).getByRole('row').count(), 4);
  await table(page).getByRole('row', { name: 'unknown path' }).waitFor();

  await row.getByRole('link', { name: LIMIT }).click();
  await page.getByRole('heading', { level: 1, name: 'Failed request', exact: true }).waitFor();
  const details = page.getByRole('region', { name: LIMIT });
  for (const text of ['third', 'GET /v1/pets', 'limit', 'shelter 7', '127.0.0.1', 'shop-frontend/2.1'])
    await details.getByText(text, { exact: true }).waitFor();
  await same(page).getByRole('row', { name: 'first' }).getByRole('link').click();
  await details.getByText('first', { exact: true }).waitFor();
  // The address of a failed request can be sent to somebody else.
  await page.reload();
  await details.getByText('first', { exact: true }).waitFor();
  assert.deepEqual([faults, foreign], [[], []]);
});

test('a part of a name finds failed requests while somebody types, and the address keeps it', async () => {
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/failed-requests`, 'Failed requests');
  const rows = table(page).getByRole('row');
  await page.getByLabel('Account').fill('ELTER');
  await rows.nth(3).waitFor({ state: 'detached' });
  assert.equal(await table(page).getByRole('link', { name: 'noisy' }).count(), 0);
  await page.getByLabel('Operation').fill('getp');
  await table(page).getByRole('row', { name: LIMIT }).waitFor({ state: 'detached' });
  assert.equal(await rows.count(), 2);
  await page.reload();
  assert.equal(await page.getByLabel('Account').inputValue(), 'ELTER');
  await rows.nth(1).waitFor();
  await page.getByLabel('Operation').fill('');
  await page.getByLabel('Code').selectOption('invalid_parameter');
  await table(page).getByRole('row', { name: LIMIT }).waitFor();
  await page.getByLabel('Code').selectOption('');
  await page.getByRole('searchbox', { name: 'Request id' }).fill('second');
  await page.getByRole('button', { name: 'Find' }).click();
  await rows.nth(2).waitFor({ state: 'detached' });
  await table(page).getByRole('row', { name: LIMIT }).getByText('1', { exact: true }).first().waitFor();
});

test('the page of an account leads to its failed requests, and from there to those of all', async () => {
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/accounts/1`, 'shelter 7');
  await page.getByRole('link', { name: 'All failed requests' }).click();
  await table(page).getByRole('row', { name: LIMIT }).waitFor();
  assert.equal(await table(page).getByRole('row', { name: 'unknown path' }).count(), 0);
  await page.getByRole('button', { name: 'Show all accounts' }).click();
  await table(page).getByRole('row', { name: 'unknown path' }).waitFor();
});

test('the list says that there was none at all only while nothing filters it', async (t) => {
  const quiet = await startTestConsole(t);
  await quiet.issueKey({ account: 'default' });
  const { page } = await visitConsole(browser, quiet);
  await showPage(page, `${quiet.consoleUrl}/failed-requests`, 'Failed requests');
  const none = page.getByText('This instance has had no refused or failed request since it started.');
  await none.waitFor();
  await page.getByLabel('Account').fill('defau');
  await page.getByText('No failed request fits these filters.').waitFor();
  assert.equal(await none.count(), 0);
  await page.goto(`${quiet.consoleUrl}/failed-requests/1`);
  await page.getByText('This instance keeps no failed request with this number').waitFor();
});

for (const { device, options } of SCREENS) {
  test(`on a ${device}, a failed request can be read without a fault of the page`, async () => {
    const { page } = await visitConsole(browser, service, { options });
    await showPage(page, `${service.consoleUrl}/failed-requests`, 'Failed requests');
    await table(page).getByRole('link', { name: LIMIT }).click();
    await same(page).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await sideways(page)) <= 0);
    assert.equal(await widestTable(page), 0);
    await page.context().close();
  });
}
