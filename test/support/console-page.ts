import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Role } from '../../src/domain/operator.ts';
import { openPage, type WatchedPage } from './browser.ts';
import type { TestConsole } from './console.ts';

/** The pages of the navigation, by their addresses. */
export const CONSOLE_PAGES = {
  '/': 'Overview',
  '/animals': 'Animals',
  '/categories': 'Categories',
  '/orders': 'Orders',
  '/accounts': 'Accounts',
  '/keys': 'Keys',
  '/bans': 'Bans',
  '/deprecations': 'Deprecations',
  '/failed-requests': 'Failed requests',
  '/audit': 'Audit log',
  '/operators': 'Operators',
} as const;

interface ConsoleVisit {
  readonly name?: string;
  readonly role?: Role;
  readonly options?: BrowserContextOptions;
}

/** Signs an operator in, and returns the browser context without a page. */
export async function visitConsole(
  browser: Browser,
  service: TestConsole,
  { name = 'ada', role = 'admin', options = {} }: ConsoleVisit = {},
): Promise<WatchedPage> {
  const watched = await openPage(browser, service.consoleUrl, options);
  const [cookie = '', value = ''] = (await service.session(name, role)).split('=');
  await watched.page.context().addCookies([{ name: cookie, value, url: service.consoleUrl }]);
  return watched;
}

/** Opens a page of the console, and waits until nothing of it still loads. */
export async function showPage(page: Page, url: string, heading: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  await loaded(page);
}

/** Waits until nothing of the page still loads. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('body:not(:has(.skeleton))').waitFor();
}
