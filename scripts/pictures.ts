import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { argv } from 'node:process';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { seedUsage } from '../src/cli/seed-usage.ts';
import { EXAMPLE_URLS } from '../src/config/config.ts';
import { call } from '../test/support/api.ts';
import { launchBrowser, openPage, openReference, pasteKey } from '../test/support/browser.ts';
import { type FakeClock, fakeClock } from '../test/support/clock.ts';
import { startTestConsole, type TestConsole } from '../test/support/console.ts';
import { ROOT } from '../test/support/store.ts';

/*
 * Writes the pictures of README and docs: the dashboard and the console of a service with invented data in a
 * temporary folder. The service and the browser have a fixed time, so the pictures change only when the pages do. Only the
 * last characters of keys are random. With a folder as argument, it writes every page into it instead, on a desktop and on a
 * phone, in light and in dark, to look at them.
 */

const NOW = new Date('2026-12-01T15:20:00Z');
const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url));
const SCREEN = { viewport: { width: 1280, height: 900 }, colorScheme: 'light', timezoneId: 'UTC' } as const;
const DESKTOP = { viewport: { width: 1440, height: 900 }, timezoneId: 'UTC' };
const PHONE = { viewport: { width: 390, height: 844 }, timezoneId: 'UTC' };
const CONSOLE_PAGES = [
  '/accounts',
  '/accounts/1',
  '/animals',
  '/animals/1',
  '/categories',
  '/orders',
  '/keys',
  '/bans',
  '/deprecations',
  '/failed-requests',
  '/audit',
  '/operators',
  '/passkeys',
  '/nowhere',
];
/** Milliseconds. */
const MINUTE = 60_000;
/** How many minutes before NOW the first request comes. */
const MINUTES = 60;
/** Bytes. Larger pictures make the repository heavy. */
const LARGEST = 150_000;

const ACCOUNTS = [
  ['Harbour Shelter', 'business', ['website', 'nightly import', 'adoption app']],
  ['Paws & Claws', 'pro', ['shop', 'till']],
  ['Northern Rescue', 'free', ['website']],
] as const;

const ANIMALS = ['Rex', 'Luna', 'Biscuit', 'Max', 'Mia', 'Flocke', 'Balu', 'Nala', 'Hopper', 'Sam'];

const stops: (() => unknown)[] = [];
const over = new AbortController();
const lifetime = { after: (stop: () => unknown) => void stops.unshift(stop), signal: over.signal };
try {
  await takePictures();
} finally {
  for (const stop of stops) await stop();
  over.abort();
}

async function takePictures(): Promise<void> {
  const clock = clockOfWork(NOW.getTime() - MINUTES * MINUTE);
  const env = { PRODUCTION_URL: EXAMPLE_URLS.production };
  const service = await startTestConsole(lifetime, { clock, env });
  const keys = await addAccounts(service);
  await addAnimals(service.url, keys[0] ?? '');
  await sendRequests(service.url, keys, clock);
  await seedUsage({
    stderr: process.stderr,
    store: service.store,
    environment: 'production',
    clock,
    randomSeed: 1,
  });
  const browser = await launchBrowser(lifetime);
  const [, , folder] = argv;
  if (folder === undefined) await takeReadmePictures(browser, service, keys[0] ?? '');
  else
    for (const device of [DESKTOP, PHONE])
      for (const colorScheme of ['light', 'dark'] as const)
        await takeEveryPage(browser, service, keys[0] ?? '', folder, { ...device, colorScheme });
}

async function takeReadmePictures(browser: Browser, service: TestConsole, key: string): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const dashboard = await openDashboard(browser, service, key, SCREEN);
  await picture(dashboard, 'dashboard');
  const console = await openConsole(browser, service, SCREEN);
  await picture(console, 'console');
  await console.goto(`${service.consoleUrl}/accounts/1`);
  await console.getByRole('heading', { name: 'Harbour Shelter' }).waitFor();
  await picture(console, 'console-account');
}

async function takeEveryPage(
  browser: Browser,
  service: TestConsole,
  key: string,
  folder: string,
  options: BrowserContextOptions,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const isPhone = options.viewport === PHONE.viewport;
  const shoot = async (page: Page, name: string, fullPage = true) => {
    await settle(page);
    const path = join(folder, `${name}-${isPhone ? 'phone' : 'desktop'}-${options.colorScheme}.png`);
    await page.screenshot({ path, animations: 'disabled', fullPage });
    process.stdout.write(`${path}\n`);
  };
  const { page: signIn } = await openPage(browser, service.url, options);
  await signIn.goto(`${service.url}/dashboard`);
  await shoot(signIn, 'dashboard-sign-in');
  await signIn.goto(`${service.consoleUrl}/sign-in`);
  await shoot(signIn, 'console-sign-in');
  await shoot(await openDashboard(browser, service, key, options), 'dashboard');
  const console = await openConsole(browser, service, options);
  await shoot(console, 'console');
  for (const path of CONSOLE_PAGES) {
    await console.goto(service.consoleUrl + path);
    await console.locator('h1, pre').first().waitFor();
    await shoot(console, `console${path.replaceAll('/', '-')}`);
  }
  const { page: reference } = await openReference(browser, service.url, options);
  for (const section of ['', 'errors', 'createOrder', 'NewPet']) {
    await reference.goto(`${service.url}/reference#${section}`);
    await shoot(reference, section === '' ? 'reference' : `reference-${section}`, false);
  }
}

async function openDashboard(
  browser: Browser,
  service: TestConsole,
  key: string,
  options: BrowserContextOptions,
): Promise<Page> {
  const { page } = await openPage(browser, service.url, options);
  await setTime(page);
  await page.goto(`${service.url}/dashboard`);
  await pasteKey(page, key);
  await page.getByRole('region', { name: 'Keys of the account' }).waitFor();
  return page;
}

async function openConsole(
  browser: Browser,
  service: TestConsole,
  options: BrowserContextOptions,
): Promise<Page> {
  const { page } = await openPage(browser, service.consoleUrl, options);
  await setTime(page);
  await page.goto(`${service.consoleUrl}/sign-in#${await service.makeLink('ada')}`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
}

/** A clock on which every reading takes a while, so that requests have a latency without a machine's noise. */
function clockOfWork(start: number): FakeClock {
  const clock = fakeClock(start);
  let readings = 0;
  const read = () => {
    clock.advance(0.1 + (readings++ % 7) * 0.1);
    return clock();
  };
  return Object.assign(read, clock);
}

/** Accounts with keys. Returns a key of each, which may do everything. */
async function addAccounts(service: TestConsole): Promise<readonly string[]> {
  const keys: string[] = [];
  for (const [name, plan, labels] of ACCOUNTS) {
    await service.store.accounts.create(ROOT, name, plan);
    const key = await service.issueKey({ account: name });
    for (const label of labels)
      await call(service.url, '/v1/account/keys', { key, body: JSON.stringify({ label }) });
    keys.push(key);
  }
  return keys;
}

async function addAnimals(url: string, key: string): Promise<void> {
  for (const name of ['Dogs', 'Cats', 'Rabbits']) await post('/v1/categories', { name });
  for (const [index, name] of ANIMALS.entries())
    await post('/v1/pets', { name, categoryId: 1 + (index % 3), status: 'available' });
  for (const petId of [3, 5, 8]) await post('/v1/store/orders', { petId });
  await post('/v1/store/orders/1/complete', {});

  async function post(path: string, body: object): Promise<void> {
    await call(url, path, { key, body: JSON.stringify(body) });
  }
}

/** Requests of the last hour: some find nothing, and for two minutes the last key sends more than it may. */
async function sendRequests(url: string, keys: readonly string[], clock: FakeClock): Promise<void> {
  for (let minute = 0; minute < MINUTES; minute++) {
    const requests = 8 + Math.round(4 * Math.sin(minute / 6)) + (minute % 3);
    for (let each = 0; each < requests; each++)
      await call(url, each % 9 === 8 ? '/v1/pets/999' : '/v1/pets?limit=1', { key: keys[each % 2] });
    if (minute === 38 || minute === 39)
      for (let each = 0; each < 70; each++) await call(url, '/v1/pets?limit=1', { key: keys[2] });
    clock.advance(MINUTE);
  }
}

/** Gives the page the time of the service. Its answers have the time of the machine in `Date`, which the page would believe. */
async function setTime(page: Page): Promise<void> {
  await page.clock.install({ time: NOW });
  await page.route('**/v1/**', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), date: NOW.toUTCString() } });
  });
}

/** Waits until everything is drawn. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
}

/** Writes what the window shows. */
async function picture(page: Page, name: string): Promise<void> {
  await settle(page);
  const path = `${FOLDER}${name}.png`;
  await page.screenshot({ path, animations: 'disabled' });
  const { size } = statSync(path);
  process.stdout.write(`docs/pictures/${name}.png: ${size} bytes\n`);
  if (size > LARGEST) throw new Error(`The picture has ${size} bytes; at most ${LARGEST} are kept.`);
}
