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
 * Writes the pictures of README and docs: the dashboard, the console and an animal of a service with invented data in a
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

/** The animal of the first picture. Its photo is drawn here, and comes from no server. */
const REX = {
  name: 'Rex',
  categoryId: 1,
  status: 'available',
  breed: 'Border Collie',
  sex: 'male',
  size: 'medium',
  color: 'Black and white',
  birthDate: '2021-04-01',
  description: 'Calm in the house, quick outside. Knows other dogs and children, and learns a trick a week.',
  tags: ['good with children', 'house-trained'],
  photoUrls: ['https://photos.harbour.example/rex.svg'],
  reference: 'A745123',
};

const PHOTO = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 320" width="480" height="320">
<path fill="#bcdcf0" d="M0 0h480v320H0z"/><path fill="#8cbf74" d="M0 235q240-50 480 0v85H0z"/>
<path fill="#23262e" d="M150 320q10-100 90-100t90 100z"/><path fill="#fff" d="M205 320q0-90 35-90t35 90z"/>
<path fill="#23262e" d="M146 68q-22 62 8 104l42-42zM334 68q22 62-8 104l-42-42z"/>
<ellipse cx="240" cy="150" rx="88" ry="92" fill="#23262e"/>
<path fill="#fff" d="M240 62q-24 60-30 92-32 26-26 58 20 34 56 34t56-34q6-32-26-58-6-32-30-92z"/>
<circle cx="200" cy="142" r="13" fill="#6b3f1d"/><circle cx="280" cy="142" r="13" fill="#6b3f1d"/>
<circle cx="204" cy="138" r="4" fill="#fff"/><circle cx="284" cy="138" r="4" fill="#fff"/>
<ellipse cx="240" cy="188" rx="21" ry="15" fill="#23262e"/>
<path fill="#e8788a" d="M224 221h32q4 42-16 42t-16-42z"/>
<path fill="none" stroke="#23262e" stroke-width="5" stroke-linecap="round" d="M240 203v14m-34-1q20 16 34 2 14 14 34-2"/></svg>`;

const ANIMALS = ['Luna', 'Biscuit', 'Max', 'Mia', 'Flocke', 'Balu', 'Nala', 'Hopper', 'Sam'];

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
  await showAnimal(console, service);
  await picture(console, 'animal');
  await console.goto(`${service.consoleUrl}/accounts/1`);
  await console.getByRole('heading', { name: 'Harbour Shelter' }).waitFor();
  await picture(console, 'console-account');
}

/** Opens the page of an animal with its photo. */
async function showAnimal(page: Page, service: TestConsole): Promise<void> {
  await page
    .context()
    .route('https://photos.harbour.example/**', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: PHOTO }),
    );
  await page.goto(`${service.consoleUrl}/animals/1`);
  await page.getByRole('button', { name: 'Show the photo' }).click();
  const photo = page.frameLocator('iframe').getByRole('img');
  await photo.waitFor();
  await photo.evaluate('(image) => image.decode()');
  await page.mouse.move(0, 0);
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
  await post('/v1/pets', REX);
  for (const [index, name] of ANIMALS.entries())
    await post('/v1/pets', { name, categoryId: 1 + ((index + 1) % 3), status: 'available' });
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
