// The dashboard for holders of a key. Contract: sections 3.13 and 3.14.
import { HOUR } from '../../src/domain/clock.ts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { env } from 'node:process';
import { promisify } from 'node:util';

import {
  launchBrowser,
  openAccount,
  openDashboard,
  pasteKey,
  SCREENS,
  accessibilityFaults,
  showAccount,
  sideways,
} from '../support/browser.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const service = await startTestService(lifetime, { clock: fakeClock(Date.now()) });
const browser = await startForFile(() => launchBrowser(lifetime));

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

/** Few tests use it, because its holder has few requests a minute. */
const shown = await busyKey(LONG);

for (const { device, options } of SCREENS) {
  test(`on a ${device}, the dashboard has no accessibility fault`, async () => {
    const { page, foreign, faults } = await openDashboard(browser, service.url, options);
    assert.deepEqual(await accessibilityFaults(page), []);
    await showAccount(page, shown);
    await page.getByRole('heading', { name: LONG }).waitFor();
    await page.getByText('“Get an animal” is deprecated').waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await sideways(page)) <= 0, 'the page need not be scrolled sideways');
    await page.getByRole('button', { name: 'Create key' }).click();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.deepEqual([foreign, faults], [[], []]);
  });
}

test('the policy of the dashboard allows its files, and no framing', async () => {
  const { headers } = await call(service.url, '/dashboard');
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.match(policy, /form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

test('a deprecated operation has a notice in the last 90 days before its removal only', async (t) => {
  // The removal is on 2030-12-05.
  for (const [today, notices, lines] of [
    ['2030-09-05T12:00:00Z', 0, 1],
    ['2030-09-07T12:00:00Z', 1, 0],
  ] as const) {
    const own = await startTestService(t, { clock: fakeClock(today) });
    const key = await own.issueKey({ account: 'late' });
    const hour = Date.parse(today) / HOUR;
    const counts = [{ hour, keyId: 1, operation: 'getPet', counts: [3, 0, 0, 0] as const }];
    await own.store.usageHistory.add({ writer: 'test', sequence: 1, counts });
    const { page } = await openDashboard(browser, own.url);
    await page.route('**/v1/**', async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), date: new Date(today).toUTCString() };
      await route.fulfill({ response, headers });
    });
    await showAccount(page, key);
    const text = { hasText: '“Get an animal” is deprecated' };
    await page.getByText(text.hasText).waitFor();
    assert.equal(await page.getByRole('status').filter(text).count(), notices, today);
    assert.equal(await page.getByRole('paragraph').filter(text).count(), lines, today);
    await page.context().close();
  }
});

test('the account page shows plan, windows, usage and deprecated operations', async () => {
  const { page } = await openAccount(browser, service.url, shown);
  await page.getByText('enterprise', { exact: true }).waitFor();
  await page
    .getByText(/of 1,000,000,000 used/)
    .first()
    .waitFor();
  const notice = page.getByRole('paragraph').filter({ hasText: '“Get an animal” is deprecated' });
  assert.match(
    await notice.innerText(),
    /will be removed on 2030-12-05\. This account called Get an animal [1-9],\d{3} times/,
  );
  assert.match(
    await notice.innerText(),
    new RegExp(`${new Date().toISOString().slice(0, 10)} \\(UTC\\)\\. Use GET /pets`),
  );
  for (const [range, rows] of [
    ['Day', 24],
    ['Week', 7],
    ['Quarter', 90],
    ['Month', 30],
  ] as const) {
    await page.getByRole('button', { name: range }).click();
    const chart = page.getByRole('region', { name: 'Requests by operation' });
    await chart.getByRole('listitem').filter({ hasText: 'Get an animal' }).waitFor();
    await chart.getByRole('button', { name: 'Table' }).click();
    assert.equal(
      await chart.getByRole('row').count(),
      rows + 2,
      `${range}: a header, the rows, and the total`,
    );
    await chart.getByRole('button', { name: 'Table' }).click();
  }
  assert.equal(
    await notice.getByRole('link', { name: 'Get an animal' }).getAttribute('href'),
    'reference#getPet',
  );
  await page.getByRole('region', { name: 'Requests by key' }).getByText(HOSTILE).waitFor();
  assert.equal(await page.title(), 'Pet Store dashboard', 'a label is text');
});

test('the key is in the storage of the tab, and in no other storage, cookie, address or source of the page', async () => {
  const { page } = await openAccount(browser, service.url, shown);
  const traces = await page.evaluate<string[]>(`(async () => [
    location.href, document.cookie, document.referrer, document.documentElement.outerHTML, JSON.stringify(history.state),
    JSON.stringify({ ...localStorage }),
    JSON.stringify(await indexedDB.databases()), JSON.stringify(await caches.keys()),
    ...Array.from(document.querySelectorAll('input'), ({ value }) => value),
  ])()`);
  assert.deepEqual(
    traces.filter((text) => text.includes(shown)),
    [],
  );
  const other = await page.context().newPage();
  await other.goto(`${service.url}/dashboard`);
  await other.getByLabel('API key').waitFor();
});

test('a reload keeps the key, and "Forget the key" goes back to the empty form for good', async () => {
  const { page } = await openAccount(browser, service.url, shown);
  await page.reload();
  await page.getByRole('heading', { name: LONG }).waitFor();
  assert.equal(await page.getByLabel('API key').count(), 0);
  await page.getByRole('button', { name: 'Forget the key' }).click();
  await page.getByLabel('API key').waitFor();
  await page.reload();
  assert.equal(await page.getByLabel('API key').inputValue(), '');
  assert.equal(await page.getByLabel('API key').getAttribute('type'), 'password');
  assert.equal(await page.getByLabel('API key').getAttribute('autocomplete'), 'off');
});

test('a key that no longer works is forgotten with the next reload, and so is a text that is no key', async () => {
  const key = await service.issueKey({ account: 'short' });
  const { page } = await openAccount(browser, service.url, key);
  const [{ id }] = (await call(service.url, '/v1/account/keys', { key })).json;
  await call(service.url, `/v1/account/keys/${id}`, { method: 'DELETE', key });
  await page.reload();
  await page.getByText('The API key has been revoked').waitFor();
  await page.reload();
  await page.getByLabel('API key').waitFor();
  await page.evaluate("sessionStorage.setItem('petstore-key', 'ключ')");
  await page.reload();
  await page.getByLabel('API key').waitFor();
  assert.equal(await page.evaluate("sessionStorage.getItem('petstore-key')"), null);
});

test('the focus is in the field of the key, then on the name of the account', async () => {
  const { page } = await openDashboard(browser, service.url);
  const focused = async () => String(await page.evaluate('document.activeElement?.localName'));
  assert.equal(await focused(), 'input');
  await page.keyboard.insertText(await service.issueKey({ account: 'focus' }));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'focus' }).waitFor();
  assert.equal(await focused(), 'h1');
});

test('the colours that are chosen stay for all pages, and the charts take them', async () => {
  const { page } = await openAccount(browser, service.url, await busyKey('theme'), { colorScheme: 'light' });
  const picture = () => page.evaluate<string>("document.querySelector('canvas').toDataURL()");
  const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  await page.locator('canvas').first().waitFor();
  const before = [await picture(), await background()];
  await page.getByRole('button', { name: 'Dark' }).click();
  await page.getByRole('button', { name: 'Light' }).waitFor();
  const after = [await picture(), await background()];
  assert.ok(before.every((value, at) => value !== after[at]));
  await page.reload();
  await page.getByRole('button', { name: 'Light' }).waitFor();
  assert.equal(await background(), after[1]);
  await page.goto(`${service.url}/reference`);
  assert.equal(await background(), after[1]);
});

test('a custom range shows its days, both included, and two days by the hour', async () => {
  const { page } = await openAccount(browser, service.url, await busyKey('custom'));
  const chart = page.getByRole('region', { name: 'Requests by operation' });
  const day = (ago: number) => new Date(Date.now() - ago * 24 * HOUR).toISOString().slice(0, 10);
  const show = async (from: string, to: string) => {
    await page.getByLabel('From (UTC)').fill(from);
    await page.getByLabel('To (UTC)').fill(to);
    await page.getByRole('button', { name: 'Show' }).click();
  };
  await page.getByRole('button', { name: 'Week', exact: true }).click();
  await page.getByRole('button', { name: 'Custom' }).click();
  await chart.getByText(`${day(6)} to ${day(0)} UTC`).waitFor();
  const values = ['From (UTC)', 'To (UTC)'].map((label) => page.getByLabel(label).inputValue());
  assert.deepEqual(await Promise.all(values), [day(6), day(0)], 'at first, the range that was shown');
  await show(day(40), day(31));
  await chart.getByText(`${day(40)} to ${day(31)} UTC`).waitFor();
  await chart.getByRole('button', { name: 'Table' }).click();
  assert.equal(await chart.getByRole('row').count(), 10 + 2);
  await show(day(11), day(10));
  await chart.getByText(`${day(11)} 00:00 to ${day(9)} 00:00 UTC`).waitFor();
  await show(day(10), day(11));
  const invalid = page.locator('input:invalid');
  await invalid.waitFor();
  await chart.getByText(`${day(11)} 00:00 to ${day(9)} 00:00 UTC`).waitFor();
});

test('operations have the names and links of the reference, and the same colour in each range', async () => {
  const key = await service.issueKey({ account: 'colours' });
  const [{ id }] = (await call(service.url, '/v1/account/keys', { key })).json;
  const hour = Math.floor(Date.now() / HOUR);
  const used = (ago: number, operation: string, times: number) => ({
    hour: hour - ago,
    keyId: id,
    operation,
    counts: [times, 0, 0, 0] as const,
  });
  // The order by requests differs between the ranges.
  const counts = [
    used(1, 'createPet', 9),
    used(1, 'listPets', 1),
    used(24 * 20, 'listPets', 99),
    used(24 * 20, 'gone', 2),
  ];
  await service.store.usageHistory.add({ writer: 'test', sequence: ++sequence, counts });
  const { page } = await openAccount(browser, service.url, key);
  const legend = page.getByRole('region', { name: 'Requests by operation' }).getByRole('listitem');
  const colours = async (range: string) => {
    await page.getByRole('button', { name: range, exact: true }).click();
    await legend.filter({ hasText: 'Add an animal' }).waitFor();
    const entries = await Promise.all(
      ['List animals', 'Add an animal'].map(async (hasText) => {
        const item = legend.filter({ hasText });
        return [
          hasText,
          await item.locator('.swatch').getAttribute('style'),
          await item.getByRole('link').getAttribute('href'),
        ];
      }),
    );
    return { first: (await legend.first().innerText()).split(/\s\d/)[0]?.trim(), entries };
  };
  const month = await colours('Month');
  const day = await colours('Day');
  await service.store.usageHistory.add({
    writer: 'test',
    sequence: ++sequence,
    counts: [used(0, 'deletePet', 3)],
  });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await legend.filter({ hasText: 'Delete an animal' }).waitFor();
  assert.deepEqual([month.first, day.first], ['List animals', 'Add an animal']);
  assert.deepEqual(day.entries, month.entries);
  assert.deepEqual(
    month.entries.map(([, , href]) => href),
    ['reference#listPets', 'reference#createPet'],
  );
  await page.getByRole('button', { name: 'Month', exact: true }).click();
  await legend.filter({ hasText: 'gone' }).waitFor();
  await page.getByRole('link', { name: 'List animals' }).click();
  await page.getByRole('heading', { name: 'List animals' }).waitFor();
});

test('an account that has sent nothing sees the line that sends its first request', async () => {
  const key = await service.issueKey({ account: 'new' });
  const { page } = await openDashboard(browser, service.url, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await pasteKey(page, key);
  const card = page.getByRole('region', { name: 'Send your first request' });
  await card.getByRole('button', { name: 'Copy' }).click();
  await page.getByRole('status').filter({ hasText: 'Copied.' }).waitFor();
  const copied = String(await page.evaluate('navigator.clipboard.readText()'));
  assert.ok(!copied.includes(key));
  assert.equal(await page.locator('.plot').count(), 0);
  // Those of this page itself are in the charts only if somebody asks for them.
  const [{ id }] = (await call(service.url, '/v1/account/keys', { key })).json;
  await use(id, 'getAccount', 1);
  await page.reload();
  await card.waitFor();
  await page.getByLabel('Also requests on the account').check();
  await page.getByRole('region', { name: 'Requests by operation' }).getByText('Get the account').waitFor();
  await page.getByRole('region', { name: 'Requests by key' }).waitFor();
  await page.getByLabel('Also requests on the account').uncheck();
  await card.waitFor();
  const lines = copied.replace('export PETSTORE_API_KEY=…', '');
  const { stdout } = await promisify(execFile)('sh', ['-c', lines], {
    env: { ...env, PETSTORE_API_KEY: key },
  });
  assert.ok(Array.isArray(JSON.parse(stdout)));
  await use(id, 'listPets', 1);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('canvas').first().waitFor();
});
