// The charts and tables that dashboard and console share.
import { HOUR } from '../../src/domain/clock.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { ApiKey } from '../../src/domain/api-key.ts';

import { PACKAGES } from '../../src/pages/shared/assets.ts';
import { bundle } from '../../src/pages/shared/bundle.ts';
import { projectFile } from '../../src/pages/shared/hashed-files.ts';
import {
  launchBrowser,
  openAccount,
  openDashboard,
  accessibilityFaults,
  SCREENS,
  sideways,
} from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { startTestConsole } from '../support/console.ts';
import { showPage, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startForFile, test } from '../support/test.ts';
import { findAccount } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const service = await startTestConsole(lifetime, { clock: fakeClock(Date.now()) });
const browser = await startForFile(() => launchBrowser(lifetime));

/** Unix seconds: the beginning of a UTC day. */
const START = Date.parse('2026-11-01T00:00:00Z') / 1000;
const HOSTILE = '=HYPERLINK("http://x")<img src=x onerror=fault()>';
const LONG =
  'a key whose label has a hundred characters, because somebody wrote down all that it is good for';
const PLOTTED = {
  kind: 'bars',
  interval: 86_400,
  starts: [START, START + 86_400, START + 2 * 86_400],
  series: [
    { label: 'listPets', values: [10_000_000, 9_000_000, 12_345_678] },
    { label: HOSTILE, values: [1, 2, 3] },
    { label: LONG, values: [0, 0, 7] },
  ],
};

/** A key of an account that called one operation more often in each hour than in the hour after it. */
async function usedKey(): Promise<{ key: string; accountId: number }> {
  const key = await service.issueKey({ account: 'used' });
  const { accounts, keys, usageHistory } = service.store;
  const { id: keyId } = (await keys.findByHash(ApiKey.parse(key)?.hash() ?? assert.fail())) ?? assert.fail();
  const { id: accountId } = (await findAccount(accounts, 'used')) ?? assert.fail();
  const hour = Math.floor(Date.now() / HOUR);
  const counts = Array.from({ length: 31 * 24 }, (_, ago) => ({
    hour: hour - ago,
    keyId,
    operation: 'listPets',
    counts: [ago + 1, ago + 2, 0, 0] as const,
  }));
  await usageHistory.add({ writer: 'test', sequence: 1, counts });
  return { key, accountId };
}

const used = await usedKey();

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENTRY = join(temporaryFolder(lifetime), 'entry.js');
writeFileSync(
  ENTRY,
  `export { html, render } from 'htm/preact';
export { Chart, Ranking } from './${relative(dirname(ENTRY), ROOT)}/src/pages/shared/chart.js';
`,
);
const COMPONENTS = await bundle(projectFile(relative(ROOT, ENTRY)), PACKAGES);

/** Renders a component into the page, with these properties. */
async function show(page: Page, name: 'Chart' | 'Ranking', props: unknown): Promise<void> {
  const path = '/ui/components.js';
  await page.route(`**${path}`, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: COMPONENTS }),
  );
  await page.evaluate(`(async () => {
    const { default: { html, render, ${name}: Component } } = await import('${path}');
    const place = document.createElement('div');
    document.querySelector('main').replaceChildren(place);
    render(html\`<\${Component} ...\${${JSON.stringify(props)}} />\`, place);
  })()`);
}

/** Waits until an expression holds. The page's policy refuses what Playwright does for it. */
async function until(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate<boolean>(expression)))
    await page.evaluate('new Promise((done) => requestAnimationFrame(done))');
}

async function openChart(options: Parameters<typeof openDashboard>[2], props: object = {}) {
  const watched = await openDashboard(browser, service.url, options);
  const all = { title: 'Requests', file: 'requests', plotted: PLOTTED, ...props };
  await show(watched.page, 'Chart', all);
  return watched;
}

for (const { device, options } of SCREENS) {
  test(`on a ${device}, a chart and its table have no accessibility fault`, async () => {
    const { page, foreign, faults } = await openChart(options);
    await page.getByRole('img', { name: 'Requests' }).waitFor();
    assert.deepEqual(await accessibilityFaults(page, 'main'), []);
    assert.ok((await sideways(page)) <= 0, 'the page need not be scrolled sideways');
    await page.getByRole('button', { name: 'Table of Requests' }).click();
    await page.getByRole('table').waitFor();
    assert.deepEqual(await accessibilityFaults(page, 'main'), []);
    assert.ok((await sideways(page)) <= 0, 'a wide table scrolls in its own region');
    assert.deepEqual([foreign, faults], [[], []]);
  });
}

test('the table behind a chart has its values with all digits, and their sums', async () => {
  const { page } = await openChart({});
  await page.getByRole('button', { name: 'Table of Requests' }).click();
  const rows = await page.getByRole('row').allInnerTexts();
  assert.deepEqual(
    rows.map((row) => row.split('\t').map((cell) => cell.trim())),
    [
      ['Start (UTC)', 'listPets', HOSTILE, LONG],
      ['2026-11-01', '10,000,000', '1', '0'],
      ['2026-11-02', '9,000,000', '2', '0'],
      ['2026-11-03', '12,345,678', '3', '7'],
      ['Total', '31,345,678', '6', '7'],
    ],
  );
  await page.getByRole('button', { name: 'Table of Requests' }).click();
  await page.getByRole('img', { name: 'Requests' }).waitFor();
});

/** The lines of the CSV of the chart. */
async function downloadLines(page: Page): Promise<string[]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV of Requests' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'requests.csv');
  return (await text(await download.createReadStream())).split('\r\n');
}

test('the CSV of a chart has the same values without sums, and no cell is a formula', async () => {
  const { page } = await openChart({});
  assert.deepEqual(await downloadLines(page), [
    `Start (UTC),listPets,"'=HYPERLINK(""http://x"")<img src=x onerror=fault()>","${LONG}"`,
    '2026-11-01,10000000,1,0',
    '2026-11-02,9000000,2,0',
    '2026-11-03,12345678,3,7',
    '',
  ]);
});

test('a chart draws the largest series and the sum of the rest; table and CSV have all, by their dates', async () => {
  const series = Array.from({ length: 12 }, (_, at) => ({ label: `operation ${at}`, values: [at + 1] }));
  const { page } = await openChart({}, { plotted: { ...PLOTTED, interval: 3_600, starts: [START], series } });
  const legend = await page.getByRole('listitem').allInnerTexts();
  assert.equal(legend.length, 8);
  assert.match(legend[7] ?? '', /^5 others\s+50$/, '8 + 9 + 10 + 11 + 12');
  await page.getByRole('region', { name: 'Requests' }).getByText('78 requests').waitFor();
  assert.deepEqual(await downloadLines(page), [
    ['Start (UTC)', ...series.map(({ label }) => label)].join(','),
    ['2026-11-01 00:00', ...series.map((_, at) => at + 1)].join(','),
    '',
  ]);
  await page.getByRole('button', { name: 'Table of Requests' }).click();
  assert.equal(await page.getByRole('columnheader').count(), 13);
});

test('a failure of the service is red, and a series keeps the colour that it is given', async () => {
  const colours = ['series-1', 'bad'];
  const series = colours.map((colour) => ({ label: colour, colour, values: [1, 1, 1] }));
  const { page } = await openChart({}, { plotted: { ...PLOTTED, series } });
  const swatches = await page.locator('.swatch').all();
  assert.deepEqual(
    await Promise.all(swatches.map((swatch) => swatch.getAttribute('style'))),
    colours.map((colour) => `background: var(--${colour});`),
  );
});

test('the pointer shows the values of an instant, in UTC and in local time', async () => {
  const { page } = await openChart({ timezoneId: 'America/New_York' });
  const legend = page.getByRole('listitem');
  assert.match(await legend.first().innerText(), /listPets\s+31,345,678/, 'the sum without a pointer');
  await page.getByText('2026-11-01 to 2026-11-03 UTC').waitFor();
  await page.locator('.u-over').hover();
  await page.getByText('2026-11-02 UTC, here 1 Nov 2026, 19:00 GMT-5').waitFor();
  assert.match(await legend.first().innerText(), /listPets\s+9,000,000/);
  assert.match(await legend.nth(1).innerText(), /onerror=fault\(\)>\s+2$/);
});

test('in a browser with UTC, an instant stands once', async () => {
  const { page } = await openChart({ timezoneId: 'UTC' });
  await page.locator('.u-over').hover();
  await page.getByText('2026-11-02 UTC', { exact: true }).waitFor();
});

for (const { place, title, open } of [
  {
    place: 'dashboard',
    title: 'Requests by operation',
    open: async () => (await openAccount(browser, service.url, used.key)).page,
  },
  {
    place: 'console',
    title: 'Requests by outcome',
    open: async () => {
      const { page } = await visitConsole(browser, service);
      await showPage(page, `${service.consoleUrl}/accounts/${used.accountId}`, 'used');
      return page;
    },
  },
]) {
  test(`on the ${place}, the pointer shows the values of its bar, wherever in the bar it is`, async () => {
    const page = await open();
    const chart = page.getByRole('region', { name: title });
    await chart.getByRole('button', { name: 'Table' }).click();
    const rows = await chart.getByRole('row').allInnerTexts();
    const bars = rows.slice(1, -1).map((row) => row.split('\t').map((cell) => cell.trim()));
    await chart.getByRole('button', { name: 'Table' }).click();
    await chart.locator('.u-over').scrollIntoViewIfNeeded();
    const box = (await chart.locator('.u-over').boundingBox()) ?? assert.fail();
    for (const at of [0, Math.floor(bars.length / 2), bars.length - 1])
      for (const part of [0.1, 0.5, 0.9]) {
        const [start = '', ...values] = bars[at] ?? [];
        await page.mouse.move(box.x + (box.width * (at + part)) / bars.length, box.y + box.height / 2);
        // The plot follows the pointer in the next frame.
        await page.evaluate(
          'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
        );
        const readout = await chart.locator('.readout').innerText();
        assert.deepEqual(
          [readout.split(' UTC')[0], ...(await chart.locator('.legend b').allInnerTexts())],
          [start, ...values],
          `at ${part} of bar ${at}`,
        );
      }
    await page.mouse.move(box.x - 100, box.y - 100);
    await chart.locator('.readout').getByText(' to ').waitFor();
  });
}

test('a chart fits a narrower window and takes the colours of the other scheme', async () => {
  const { page } = await openChart({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
  const picture = () => page.evaluate<string>("document.querySelector('canvas').toDataURL()");
  await page.locator('canvas').waitFor();
  const light = await picture();
  await page.emulateMedia({ colorScheme: 'dark' });
  await until(page, `document.querySelector('canvas').toDataURL() !== ${JSON.stringify(light)}`);
  await page.setViewportSize({ width: 390, height: 844 });
  await until(page, "document.querySelector('canvas').clientWidth < 390");
  assert.ok((await sideways(page)) <= 0);
});

test('a chart says that it is empty, that it loads, or why it failed', async () => {
  const { page } = await openChart({}, { plotted: { ...PLOTTED, series: [] } });
  await page.getByText('There were no requests in this time.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'CSV of Requests' }).isDisabled());
  assert.ok(await page.getByRole('button', { name: 'Table of Requests' }).isDisabled());
  await show(page, 'Chart', { title: 'Requests', file: 'requests' });
  await page.getByText('Requests: loading.').waitFor();
  const error = { code: 'unavailable', message: 'The database is away.', status: 503 };
  await show(page, 'Chart', { title: 'Requests', file: 'requests', error });
  const alert = page.getByRole('alert');
  assert.match(await alert.innerText(), /The service does not answer\s+The database is away\./);
});

test('a ranking shows the largest values, and its table shows all', async () => {
  const { page } = await openDashboard(browser, service.url);
  const values = Array.from({ length: 100 }, (_, at) => ({ label: `key ${at}`, value: at * 100_000 }));
  await show(page, 'Ranking', {
    title: 'Keys',
    file: 'keys',
    name: 'Key',
    unit: 'Requests',
    values,
  });
  const items = await page.getByRole('listitem').allInnerTexts();
  assert.equal(items.length, 10);
  assert.match(items[0] ?? '', /key 99\s+9\.9M/);
  await page.getByText('The table has all 100.').waitFor();
  await page.getByRole('button', { name: 'Table of Keys' }).click();
  assert.equal(await page.getByRole('row').count(), 102, 'a header, a hundred keys, and the total');
  assert.match(await page.getByRole('row').last().innerText(), /Total\s+495,000,000/);
  assert.match(await page.getByRole('row').nth(1).innerText(), /key 99\s+9,900,000/);
});

test('the console has the names, the ranges and the choice of colours of the dashboard', async () => {
  const { page } = await visitConsole(browser, service, { options: { colorScheme: 'light' } });
  await showPage(page, `${service.consoleUrl}/accounts/${used.accountId}`, 'used');
  await page.getByRole('region', { name: 'Requests by operation' }).getByText('List animals').waitFor();
  const [first = '', last = ''] = [2, 1].map((ago) =>
    new Date(Date.now() - ago * 24 * HOUR).toISOString().slice(0, 10),
  );
  await page.getByRole('button', { name: 'Custom' }).click();
  await page.getByLabel('From (UTC)').fill(first);
  await page.getByLabel('To (UTC)').fill(first);
  await page.getByRole('button', { name: 'Show' }).click();
  const chart = page.getByRole('region', { name: 'Requests by outcome' });
  await chart.getByText(`${first} 00:00 to ${last} 00:00 UTC`).waitFor();
  await chart.getByRole('button', { name: 'Table' }).click();
  assert.equal(await chart.getByRole('row').count(), 24 + 2);
  const background = 'getComputedStyle(document.body).backgroundColor';
  const light = await page.evaluate<string>(background);
  await page.getByRole('button', { name: 'Dark' }).click();
  await page.getByRole('button', { name: 'Light' }).waitFor();
  assert.notEqual(await page.evaluate<string>(background), light);
});
