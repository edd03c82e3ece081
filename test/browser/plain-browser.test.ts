// Pages in a browser that lacks what most have: under a name without TLS, or one that keeps nothing. Contract: section 6.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser, openPage, pasteKey } from '../support/browser.ts';
import { startTestConsole } from '../support/console.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const service = await startTestConsole(lifetime);
const browser = await startForFile(() => launchBrowser(lifetime));

/** A name of the local network: no secure context, and not the name of the service's base address. */
const LAN = 'http://pets.lan';

/** Opens a page of the service under the name of the local network. */
async function openUnderName(path: string) {
  const watched = await openPage(browser, LAN);
  await watched.page.route(`${LAN}/**`, async (route) => {
    const { pathname, search } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: service.url + pathname + search }) });
  });
  await watched.page.goto(LAN + path);
  assert.equal(await watched.page.evaluate('isSecureContext'), false);
  return watched;
}

/** What the person would paste now. */
async function readClipboard(page: Page): Promise<string> {
  await page.evaluate(
    `document.body.append(Object.assign(document.createElement('textarea'), { id: 'paste' }))`,
  );
  await page.locator('#paste').focus();
  await page.keyboard.press('Control+v');
  return page.locator('#paste').inputValue();
}

test('without TLS, a sample, a secret and the lines of the first request are copied', async () => {
  const { page: reference } = await openUnderName('/reference');
  await reference.locator('#quick-start pre:visible').hover();
  const sample = await reference.locator('#quick-start pre:visible').innerText();
  await reference.locator('#quick-start .copy:visible').click();
  await reference.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal((await readClipboard(reference)).trim(), sample.trim());

  const { page: dashboard } = await openUnderName('/dashboard');
  await pasteKey(dashboard, await service.issueKey({ account: 'lan' }));
  const card = dashboard.getByRole('region', { name: 'Send your first request' });
  await card.getByRole('button', { name: 'Copy' }).click();
  await dashboard.getByRole('status').filter({ hasText: 'Copied.' }).waitFor();
  const lines = await card.getByRole('code').first().innerText();
  await dashboard.getByRole('button', { name: 'Create key' }).click();
  await dashboard.getByLabel('Label').fill('web');
  await dashboard.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const dialog = dashboard.getByRole('dialog', { name: 'The new key' });
  const secret = await dialog.getByRole('code').innerText();
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await dialog.getByText('Copied.').waitFor();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  assert.match(lines, /^export PETSTORE_API_KEY=…\ncurl /);
  assert.equal(await readClipboard(dashboard), secret);
});

test('under another name of the host, the pictures of the reference are shown, and "try it" reaches the service', async () => {
  const { page, foreign } = await openUnderName('/reference');
  const hidden = await page.evaluate(
    'Array.from(document.images).filter(({ naturalWidth }) => naturalWidth === 0).map(({ src }) => src)',
  );
  assert.deepEqual(hidden, []);
  await page.locator('#listPets').getByText('Try it').click();
  const form = page.locator('#listPets form');
  await form.getByLabel('API key').fill(await service.issueKey({ account: 'name' }));
  await form.getByRole('button', { name: /^Send/ }).click();
  await form.getByText('200 OK').waitFor();
  assert.deepEqual(foreign, []);
});

test('what a browser does not let the page copy is selected', async () => {
  const { page } = await openPage(browser, service.url);
  await page.addInitScript(`
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));
    document.execCommand = () => false;
  `);
  await page.goto(`${service.url}/reference`);
  await page.locator('#quick-start pre:visible').hover();
  await page.locator('#quick-start .copy:visible').click();
  await page.getByRole('button', { name: 'Selected' }).waitFor();
  const selected = await page.evaluate('getSelection().toString()');
  assert.equal(String(selected).trim(), (await page.locator('#quick-start pre:visible').innerText()).trim());
});

/** Modules that use what a browser may lack, and do without it. Everything else asks them. */
const CAREFUL = ['console/session.js', 'shared/clipboard.js', 'shared/storage.js', 'shared/theme-start.js'];

test('no other module takes for granted what a browser may lack', () => {
  const lacking =
    /navigator\.(?:clipboard|serviceWorker|locks)|\b(?:localStorage|sessionStorage|indexedDB|caches)[.[]|new BroadcastChannel|crypto\.(?:subtle|randomUUID)|globalThis\[/;
  const pages = fileURLToPath(new URL('../../src/pages', import.meta.url));
  const using = globSync('**/*.js', { cwd: pages }).filter((file) =>
    lacking.test(readFileSync(join(pages, file), 'utf8')),
  );
  assert.deepEqual(using.toSorted(), CAREFUL);
});

/** A page whose browser keeps nothing: storage and channels between tabs throw, as Firefox does without cookies. */
async function openWithoutStorage() {
  const watched = await openPage(browser, service.url);
  await watched.page.addInitScript(`
    const refuse = () => { throw new DOMException('The operation is insecure.', 'SecurityError'); };
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
      Object.defineProperty(window, name, { get: refuse });
    window.BroadcastChannel = refuse;
  `);
  return watched;
}

test('a browser that keeps nothing shows the reference with search, languages, colours and "try it"', async () => {
  const { page, faults } = await openWithoutStorage();
  await page.goto(`${service.url}/reference`);
  await page.locator('#listPets').getByText('Ruby', { exact: true }).click();
  await page.locator('#createPet .samples.code pre:visible').getByText('Net::HTTP::Post').waitFor();
  const dark = page.getByRole('button', { name: 'Dark' });
  await dark.click();
  await dark.waitFor({ state: 'hidden' });
  await page.locator('#listPets').getByText('Try it').click();
  await page.locator('#listPets').getByLabel('API key').fill('petstore_live_x');
  await page.locator('#getPet').getByText('Try it').click();
  assert.equal(await page.locator('#getPet').getByLabel('API key').inputValue(), 'petstore_live_x');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByLabel('Search the reference').fill('quick start');
  await page.locator('#hits a').first().waitFor();
  assert.deepEqual(faults, []);
});

test('a browser that keeps nothing shows the dashboard', async () => {
  const { page, faults } = await openWithoutStorage();
  await page.goto(`${service.url}/dashboard`);
  await pasteKey(page, await service.issueKey({ account: 'forgetful' }));
  await page.getByRole('heading', { name: 'forgetful' }).waitFor();
  assert.deepEqual(faults, []);
});

test('the console says that a browser without cookies cannot sign in', async () => {
  const { page } = await openWithoutStorage();
  await page.route('**/admin/v1/me', async (route) => {
    await page.context().clearCookies();
    await route.continue();
  });
  await page.goto(`${service.consoleUrl}/sign-in#${await service.makeLink('ada')}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('The browser keeps no cookies of this address').waitFor();
});
