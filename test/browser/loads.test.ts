// What the pages load: docs/design/console.md.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { call } from '../support/api.ts';
import { launchBrowser, openDashboard, showAccount } from '../support/browser.ts';
import { startTestConsole } from '../support/console.ts';
import { loaded, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const service = await startTestConsole(lifetime);
const browser = await startForFile(() => launchBrowser(lifetime));

/** Requests until everything of a page is there, its own included. */
const MOST_REQUESTS = 40;

/** Bytes, compressed: files of a page, those that it shares with others included. */
const MOST_BYTES = 100 * 1024;

/** Requests and bytes of a page so far, and those of its files. */
async function measure(page: Page) {
  const entries = await page.evaluate<[name: string, bytes: number][]>(
    `performance.getEntries()
      .filter(({ entryType }) => ['navigation', 'resource'].includes(entryType))
      .map(({ name, encodedBodySize }) => [name, encodedBodySize])`,
  );
  const files = entries.filter(([name]) => name.includes('/ui/'));
  return {
    requests: entries.length,
    files: files.map(([name]) => name.replace(/.*\/ui\/[^/]+\//, '')).toSorted(),
    bytes: files.reduce((sum, [, size]) => sum + size, 0),
  };
}

const FILES = ['main.css', 'main.js', 'src/pages/shared/icon.svg', 'src/pages/shared/theme-start.js'];

test('the dashboard loads four files, and an account with everything within 40 requests', async () => {
  const key = await service.issueKey({ account: 'loads' });
  await call(service.url, '/v1/pets', { key });
  const { page, foreign } = await openDashboard(browser, service.url);
  await showAccount(page, key);
  await loaded(page);
  const { requests, files, bytes } = await measure(page);
  assert.deepEqual(files, FILES);
  assert.ok(requests <= MOST_REQUESTS, `${requests} requests`);
  assert.ok(bytes > 0 && bytes < MOST_BYTES, `${bytes} bytes`);
  assert.deepEqual(foreign, []);
});

test('the console loads four files, and its overview within 40 requests', async () => {
  const { page, foreign } = await visitConsole(browser, service);
  await page.goto(service.consoleUrl);
  await page.locator('canvas, .empty').first().waitFor();
  await loaded(page);
  const { requests, files, bytes } = await measure(page);
  assert.deepEqual(files, FILES);
  assert.ok(requests <= MOST_REQUESTS, `${requests} requests`);
  assert.ok(bytes > 0 && bytes < MOST_BYTES, `${bytes} bytes`);
  assert.deepEqual(foreign, []);
});
