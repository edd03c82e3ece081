import { readFileSync } from 'node:fs';
import type { AxeResults, RunOptions } from 'axe-core';
import {
  type Browser,
  type BrowserContextOptions,
  type BrowserServer,
  chromium,
  type Page,
} from 'playwright-core';
import type { Lifetime } from './lifetime.ts';
import { program } from './servers.ts';

/** A page, and what went wrong on it so far. */
export interface WatchedPage {
  readonly page: Page;
  /** Requests to any other origin than those allowed. */
  readonly foreign: readonly string[];
  /** Errors and warnings of the console, and what scripts threw. */
  readonly faults: string[];
}

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const HEADLESS_SHELL = 'chromium-headless-shell';

/**
 * Where Debian's Chromium is. The headless shell needs a third less processor time.
 * @throws MissingProgram
 */
function findChromium(): string {
  try {
    return program(HEADLESS_SHELL, HEADLESS_SHELL, { name: 'Chromium' });
  } catch (error) {
    try {
      return program('chromium', 'chromium');
    } catch {
      throw error;
    }
  }
}

/** Starts Chromium, and gives what `launchBrowser` connects to. */
export function startBrowserServer(): Promise<BrowserServer> {
  return chromium.launchServer({ executablePath: findChromium(), args: ARGUMENTS });
}

/** The Chromium of TEST_BROWSER, which all files of a run share, or one of this file. Contexts separate the tests. */
export async function launchBrowser(t: Lifetime): Promise<Browser> {
  const server = process.env['TEST_BROWSER'];
  const browser =
    server === undefined
      ? await chromium.launch({ executablePath: findChromium(), args: ARGUMENTS })
      : await chromium.connect(server);
  t.after(() => browser.close());
  return browser;
}

/** Opens a page of its own, which may send requests to `origin` alone. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  // Longer than a busy machine takes.
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  const foreign: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) foreign.push(url.href);
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  return { page, foreign, faults };
}

/** Opens the reference of the service and waits until it is there. */
export async function openReference(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const watched = await openPage(browser, url, options);
  await watched.page.goto(`${url}/reference`);
  await watched.page.getByRole('heading', { name: 'Pet Store API', level: 1 }).waitFor();
  return watched;
}

/** Opens the dashboard, which asks for a key. */
export async function openDashboard(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const watched = await openPage(browser, url, options);
  await watched.page.goto(`${url}/dashboard`);
  await watched.page.getByLabel('API key').waitFor();
  return watched;
}

/** Pastes a key into the dashboard. */
export async function pasteKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Open' }).click();
}

/** Waits for the charts of the dashboard, or for what stands there while no program has used the account. */
export async function usageShown(page: Page): Promise<void> {
  await page.locator('canvas, [aria-label="Send your first request"]').first().waitFor();
}

/** Pastes a key that may manage keys, and waits until everything of its account is there. */
export async function showAccount(page: Page, key: string): Promise<void> {
  await pasteKey(page, key);
  await page.getByRole('region', { name: 'Keys of the account' }).waitFor();
  await usageShown(page);
}

/** Opens the dashboard and shows the account of a key. */
export async function openAccount(
  browser: Browser,
  url: string,
  key: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const watched = await openDashboard(browser, url, options);
  await showAccount(watched.page, key);
  return watched;
}

/** The screens that every page is looked at on. Each begins in another colour scheme, and `accessibilityFaults` looks at both. */
export const SCREENS = [
  { device: 'desktop', options: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' } },
  { device: 'phone', options: { viewport: { width: 320, height: 690 }, colorScheme: 'dark' } },
] as const;

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const DARK = 'matchMedia("(prefers-color-scheme: dark)").matches';

/** The rules that depend on the colour scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * The faults that axe-core finds on a page, or in the part that a selector names, by rule, with the elements: first
 * in the colour scheme of the page, then in the other.
 */
export async function accessibilityFaults(page: Page, part = 'html'): Promise<string[]> {
  const faults = await findFaults(page, part, {});
  const colorScheme = (await page.evaluate(DARK)) === true ? 'light' : 'dark';
  await page.emulateMedia({ colorScheme });
  // A script that follows the colour scheme runs before the next frame.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  const others = await findFaults(page, part, { runOnly: COLOUR_RULES });
  return [...faults, ...others.map((fault) => `${colorScheme}: ${fault}`)];
}

async function findFaults(page: Page, part: string, options: RunOptions): Promise<string[]> {
  // An element that fades in has intermediate colours until the animation ends.
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const call = [part, { resultTypes: ['violations'], ...options }].map((value) => JSON.stringify(value));
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${call.join()})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
  );
}

/** How many pixels the page is wider than its window. */
export async function sideways(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
}

/** How many pixels of the widest table are out of view, in the region that it scrolls in. */
export async function widestTable(page: Page): Promise<number> {
  const regions = `[...document.querySelectorAll('.scroll')]`;
  return Number(
    await page.evaluate(
      `Math.max(0, ...${regions}.map((region) => region.scrollWidth - region.clientWidth))`,
    ),
  );
}
