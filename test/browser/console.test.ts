// Contract: section 10.1.
import { HOUR } from '../../src/domain/clock.ts';
import assert from 'node:assert/strict';
import { text as readText } from 'node:stream/consumers';
import { ApiKey } from '../../src/domain/api-key.ts';

import { call } from '../support/api.ts';
import { launchBrowser, SCREENS, accessibilityFaults, sideways, widestTable } from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { startTestConsole } from '../support/console.ts';
import { CONSOLE_PAGES, loaded, showPage, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { requireValue } from '../storage/fixture.ts';
import { CLIENT, ROOT, createAccount } from '../support/store.ts';
import { until } from '../support/until.ts';
import { startForFile, test } from '../support/test.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';
const LONG =
  'The shelter at the harbour, with the longest name that an account may have: a hundred characters, ok';

/** Bytes, compressed: everything that a page loads, without the answers of the admin API. */
const MOST_BYTES = 150 * 1024;

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const clock = fakeClock(Date.now());
const service = await startTestConsole(lifetime, { clock, env: { BAN_AFTER: '2' } });
const browser = await startForFile(() => launchBrowser(lifetime));

const { accounts, audit, categories, keys, operators, orders, pets, usageHistory } = service.store;
const SMALL = { perMinute: 1, perDay: 1_000 };

/** An account whose key is banned, with hostile text wherever somebody can put some, and 10 million requests an hour. */
async function seed(): Promise<void> {
  const created = await createAccount(accounts, LONG, 'enterprise', SMALL);
  await accounts.change(ROOT, created.id, { name: HOSTILE });
  await createAccount(accounts, LONG, 'free', { perMinute: 60, perDay: 1_000 });
  const key = await service.issueKey({ account: HOSTILE });
  const asked = { key, headers: { 'x-request-id': 'a"b<c>' } };
  for (let sent = 0; sent < 4; sent++) await call(service.url, '/v1/pets', asked);
  const counts = Array.from({ length: 24 }, (_, ago) => ({
    hour: Math.floor(Date.now() / HOUR) - ago,
    keyId: 1,
    operation: 'getPet',
    counts: [10_000_000, 4, 3, 2] as const,
  }));
  await usageHistory.add({ writer: 'test', sequence: 1, counts });
  await operators.create(ROOT, HOSTILE, 'viewer');
  await categories.create(ROOT, { name: HOSTILE, description: HOSTILE });
  await pets.create(ROOT, { name: `${HOSTILE} ${LONG}`, categoryId: 1n, status: 'available' });
  await orders.create(CLIENT, 1, { petId: 1n, shipDate: '2027-01-15T10:00:00Z' });
}

await seed();

for (const { device, options } of SCREENS) {
  test(`on a ${device}, every page works without a fault or a foreign request`, async () => {
    const { page, faults, foreign } = await visitConsole(browser, service, { options });
    await showPage(page, `${service.consoleUrl}/`, 'Overview');
    for (const [path, heading] of Object.entries(CONSOLE_PAGES)) {
      const menu = page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.click();
      await page.getByRole('navigation').getByRole('link', { name: heading }).click();
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      await loaded(page);
      assert.equal(new URL(page.url()).pathname, path);
      assert.equal(await page.title(), `${heading} – Pet Store console`);
      assert.deepEqual(await accessibilityFaults(page), [], heading);
      assert.ok((await sideways(page)) <= 0, `${heading} need not be scrolled sideways`);
      assert.equal(await widestTable(page), 0, `no table of ${heading} scrolls sideways`);
    }
    await showPage(page, `${service.consoleUrl}/accounts/1`, HOSTILE);
    await page.getByRole('region', { name: 'Requests by outcome' }).locator('canvas').waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await sideways(page)) <= 0, 'an account need not be scrolled sideways');
    assert.deepEqual([faults, foreign], [[], []]);
    await page.context().close();
  });
}

test('every page loads less than 150 KiB from this service, each file at once', async () => {
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/accounts/1`, HOSTILE);
  const [bytes, late] = await page.evaluate<[number, string[]]>(`(() => {
    const files = performance.getEntriesByType('resource').filter(({ name }) => !name.includes('/admin/'));
    const early = [...document.querySelectorAll('link, head script')].map(({ href, src }) => href ?? src);
    const late = files.map(({ name }) => name).filter((name) => !early.includes(name));
    return [files.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0), late];
  })()`);
  assert.ok(bytes > 0 && bytes < MOST_BYTES, `${bytes} bytes`);
  assert.deepEqual(late, []);
});

test('accounts are searched by name, come in pages, and filter the audit log', async () => {
  const { page } = await visitConsole(browser, service);
  for (let number = 0; number < 101; number++)
    await createAccount(accounts, `shelter ${number}`, 'free', { perMinute: 60, perDay: 1_000 });
  await showPage(page, `${service.consoleUrl}/accounts`, 'Accounts');
  await page.getByText('100 are shown.').waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByRole('link', { name: HOSTILE }).waitFor();
  await page.getByText('103 accounts').waitFor();
  await page.getByLabel('Search').pressSequentially('LTER 77');
  await page.waitForURL('**/accounts?search=LTER+77');
  await page.getByText('1 of 103 accounts').waitFor();
  await page.getByRole('link', { name: 'shelter 76' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'shelter 77' }).click();
  await page.getByRole('heading', { level: 1, name: 'shelter 77' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Audit log' }).click();
  const log = page.getByRole('region', { name: 'Changes' });
  await log.getByRole('row', { name: 'created an account' }).waitFor();
  assert.equal(await log.getByRole('row').count(), 2);
  assert.equal(await page.getByLabel('Account').inputValue(), 'shelter 77');
  await page.getByLabel('Account').fill('shelter 5');
  await log.getByRole('link', { name: 'account shelter 5', exact: true }).waitFor();
  await log.getByRole('row').nth(2).waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'shelter 77' }).waitFor();
});

test('"back" leads to the list before a filter was chosen', async () => {
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/keys`, 'Keys');
  await page.getByLabel('Search').fill('pri');
  await page.waitForURL('**/keys?search=pri');
  await page.getByLabel('Unused for').selectOption('30 days');
  await page.waitForURL(/unusedFor/);
  await page.goBack();
  assert.equal(new URL(page.url()).search, '?search=pri');
  await until(async () => (await page.getByLabel('Unused for').inputValue()) === '');
});

test('keys are searched, filtered and sorted, and the address keeps it', async () => {
  const { page } = await visitConsole(browser, service);
  await createAccount(accounts, 'sorted', 'free', { perMinute: 60, perDay: 1_000 });
  for (const label of ['price board', 'price list', 'site'])
    await service.issueKey({ account: 'sorted', label });
  await showPage(page, `${service.consoleUrl}/keys`, 'Keys');
  await page.getByLabel('Search').fill('PRICE');
  await page.getByText('2 of 4 keys').waitFor();
  await page.getByLabel('Sort by').selectOption('Oldest first');
  await page.getByRole('row').nth(1).getByText('price board').waitFor();
  await page.getByLabel('Unused for').selectOption('30 days');
  await page.getByText('No key fits these filters.').waitFor();
  await page.reload();
  await page.getByText('No key fits these filters.').waitFor();
  assert.equal(await page.getByLabel('Search').inputValue(), 'PRICE');
});

test('the audit log is filtered by author and action, and saved as CSV with the names of actions', async () => {
  const { page } = await visitConsole(browser, service);
  for (const name of ['Ben', 'benedict'])
    await accounts.create({ kind: 'operator', name }, `by ${name}`, 'free');
  await showPage(page, `${service.consoleUrl}/audit`, 'Audit log');
  await page.getByLabel('By', { exact: true }).fill('BENE');
  await page.getByLabel('Action').selectOption('Created an account');
  const log = page.getByRole('region', { name: 'Changes' });
  await log.getByRole('link', { name: 'by benedict' }).waitFor();
  await log.getByRole('row').nth(2).waitFor({ state: 'detached' });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV' }).click(),
  ]);
  const lines = (await readText(await download.createReadStream())).trim().split(/\r?\n/);
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? '', /operator,benedict,,accounts create,account,by benedict,/);
});

test('a note of an account is written in its form and shown on its page', async () => {
  const { page } = await visitConsole(browser, service);
  const { id } = await createAccount(accounts, 'noted', 'free', { perMinute: 60, perDay: 1_000 });
  await showPage(page, `${service.consoleUrl}/accounts/${id}`, 'noted');
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByLabel('Note').fill('Ask for Ada.\nPays yearly.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('definition').getByText('Pays yearly.').waitFor();
  const { note, plan } = requireValue(await accounts.get(id));
  assert.deepEqual([note, plan], ['Ask for Ada.\nPays yearly.', 'free']);
});

test('a wrong address says so and leads to the overview', async () => {
  const { page } = await visitConsole(browser, service);
  assert.equal((await page.goto(`${service.consoleUrl}/nope`))?.status(), 404);
  await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Go to the overview.' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
});

test('on a phone, an account near its limit stands above its figure, and latency has its unit', async () => {
  const { page } = await visitConsole(browser, service, { options: SCREENS[1].options });
  await showPage(page, `${service.consoleUrl}/`, 'Overview');
  const row = page.getByRole('listitem').filter({ hasText: 'used this minute' }).first();
  const name = await row.getByRole('link').boundingBox();
  const figure = await row.getByText('used this minute').boundingBox();
  assert.ok(name && figure && name.y + name.height <= figure.y + 1);
  const chart = page.getByRole('region', { name: 'Latency, last hour' });
  assert.match(await chart.getByText('p50: half are faster').innerText(), /ms$/);
  await chart.getByRole('button', { name: 'Table' }).click();
  await chart.getByText('p50: half are faster (ms)').first().waitFor();
});

test('the overview says of which time its figures are, and counts the requests of the usage history', async (t) => {
  const restarted = await startTestConsole(t, { clock: fakeClock(Date.now()) });
  const key = await restarted.issueKey();
  for (let sent = 0; sent < 3; sent++) await call(restarted.url, '/v1/pets', { key });
  await call(restarted.url, '/v1/pets');
  await call(restarted.url, '/v1/pets', { key: 'wrong' });
  await until(async () => {
    const sums = await restarted.store.usageHistory.sums({
      interval: 'hour',
      by: 'interval',
      from: 0,
      to: restarted.clock().unix + HOUR,
    });
    return sums.length === 1;
  });
  const { page } = await visitConsole(browser, restarted);
  await showPage(page, restarted.consoleUrl, 'Overview');
  const hour = page.getByRole('region', { name: 'Requests, last hour' });
  await hour.getByText('Since this instance started.').waitFor();
  for (const name of ['Requests, last hour', 'Requests, last day, all instances'])
    await page.getByRole('region', { name }).getByText('3 requests', { exact: true }).waitFor();
});

test('on a laptop no column of the keys is covered, and a request id stays on one line', async () => {
  const { page } = await visitConsole(browser, service, {
    options: { viewport: { width: 1_280, height: 800 } },
  });
  await showPage(page, `${service.consoleUrl}/keys`, 'Keys');
  assert.equal(await widestTable(page), 0);
  await page.setViewportSize({ width: 1_024, height: 800 });
  await showPage(page, `${service.consoleUrl}/failed-requests`, 'Failed requests');
  await page.getByRole('rowheader').getByRole('link').first().click();
  await page.getByRole('region', { name: 'Failed requests', exact: true }).waitFor();
  await loaded(page);
  const lines = await page.evaluate<number>(`(() => {
    const id = document.querySelector('code .name');
    return id.offsetHeight / Number.parseFloat(getComputedStyle(id).fontSize);
  })()`);
  assert.ok(lines < 2, `${lines} lines`);
});

test('the audit log shows amounts, ids and instants each in their own form', async () => {
  const { page } = await visitConsole(browser, service);
  const after = { animals: 1_234, randomSeed: 1_234_567, expiresAt: '2026-12-01T10:00:07.000Z' };
  await audit.add(ROOT, { action: 'seed end', target: { kind: 'pets', name: '1234' }, after });
  await showPage(page, `${service.consoleUrl}/audit`, 'Audit log');
  const values = page.getByRole('row', { name: 'added invented animals' }).locator('dd');
  const shown = (await values.allInnerTexts()).map((text) => text.trim());
  assert.deepEqual(shown, ['1,234', '1234567', '2026-12-01 10:00:07 UTC']);
});

test('bans and deprecations are in the navigation and on the overview only while there are any', async (t) => {
  const own = await startTestConsole(t, { clock, env: { BAN_AFTER: '2' } });
  const { page } = await visitConsole(browser, own);
  const links = page.getByRole('navigation').getByRole('link', { name: /^(Bans|Deprecations)$/ });
  for (const [path, heading, empty] of [
    ['/bans', 'Bans', 'No key is banned.'],
    ['/deprecations', 'Deprecations', 'No key called a deprecated operation in the last 30 days.'],
    ['/', 'Overview', 'No webhook fails.'],
  ] as const) {
    await showPage(page, own.consoleUrl + path, heading);
    await page.getByText(empty).waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(await links.allInnerTexts(), [], heading);
  }
  const calls = page.getByRole('region', { name: 'Calls of deprecated operations', exact: true });
  assert.equal(await calls.count(), 0);
  const key = await own.issueKey({ account: 'caller', limits: SMALL });
  for (let sent = 0; sent < 4; sent++) await call(own.url, '/v1/pets', { key });
  const hour = Math.floor(Date.now() / HOUR);
  const counts = [{ hour, keyId: 1, operation: 'getPet', counts: [12, 0, 0, 0] as const }];
  await own.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
  await showPage(page, `${own.consoleUrl}/`, 'Overview');
  await links.nth(1).waitFor();
  assert.deepEqual(await links.allInnerTexts(), ['Bans', 'Deprecations']);
  await calls.getByRole('row', { name: 'Get an animal caller' }).waitFor();
});

test('failed requests, bans, deprecations, operators and tokens come in pages', async () => {
  const { page } = await visitConsole(browser, service);
  const counts = [];
  for (let number = 0; number < 101; number++) {
    const key = await service.issueKey({ account: `caller ${number}`, limits: SMALL });
    for (let sent = 0; sent < 4; sent++) await call(service.url, '/v1/pets', { key });
    await service.makeToken(`operator ${number}`, 'viewer');
    const { id: keyId } =
      (await keys.findByHash(ApiKey.parse(key)?.hash() ?? assert.fail())) ?? assert.fail();
    const hour = Math.floor(Date.now() / HOUR);
    counts.push({ hour, keyId, operation: 'getPet', counts: [1, 0, 0, 0] as const });
  }
  await usageHistory.add({ writer: 'test', sequence: 2, counts });
  for (const [path, heading, name] of [
    ['/failed-requests', 'Failed requests', 'Refused and failed requests'],
    ['/bans', 'Bans', 'Bans in force'],
    ['/deprecations', 'Deprecations', 'Calls of deprecated operations'],
    ['/operators', 'Operators', 'Operators'],
    ['/operators', 'Operators', 'Tokens of programs'],
  ] as const) {
    await showPage(page, `${service.consoleUrl}${path}`, heading);
    const stack = page.locator('.stack', { has: page.getByRole('region', { name }) });
    await stack.getByText('100 are shown.').waitFor();
    await stack.getByRole('button', { name: 'Show more' }).click();
    await stack.getByText('100 are shown.').waitFor({ state: 'detached' });
    assert.ok((await stack.getByRole('row').count()) > 101, name);
  }
});
