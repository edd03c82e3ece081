// Contract: section 10.1.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { launchBrowser, openPage } from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { inventedSecret, startTestConsole } from '../support/console.ts';
import { showPage, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { temporaryDatabase } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';
import { findAccount } from '../support/store.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const clock = fakeClock(Date.now());
const databaseUrl = temporaryDatabase(lifetime);
const service = await startTestConsole(lifetime, { clock, databaseUrl });
const browser = await startForFile(() => launchBrowser(lifetime));
const signInPage = `${service.consoleUrl}/sign-in`;

const overview = (page: Page) => page.getByRole('heading', { level: 1, name: 'Overview' });
const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true });
const sessionEnded = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' });

/** Ends the session of a browser, as its operator does on another page. */
async function endSession(page: Page): Promise<void> {
  const [cookie] = await page.context().cookies();
  const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
  assert.equal((await service.ask('/sign-out', { method: 'POST', headers })).status, 204);
}

/** Opens the form of a new account, and types into it. */
async function typeAccount(page: Page, name: string): Promise<void> {
  await showPage(page, `${service.consoleUrl}/accounts`, 'Accounts');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
}

test('a link signs in by a button, and leaves the address at once', async () => {
  const { page, faults, foreign } = await openPage(browser, service.consoleUrl);
  const link = await service.makeLink('ada');
  await page.goto(`${signInPage}#${link}`);
  await signInButton(page).waitFor();
  assert.equal(page.url(), signInPage);
  assert.equal(await page.evaluate('history.length'), 2, 'no older entry has the link');
  await signInButton(page).click();
  await overview(page).waitFor();
  assert.equal(new URL(page.url()).pathname, '/');
  const [session] = await page.context().cookies();
  const kept = await page.evaluate<string>(
    'document.documentElement.outerHTML + document.cookie + location + JSON.stringify([localStorage, sessionStorage])',
  );
  assert.ok(!kept.includes(link) && !kept.includes(session?.value ?? link));
  assert.deepEqual([faults, foreign], [[], []]);
});

test('every bad link says what is wrong, and another can be pasted', async () => {
  const { page } = await openPage(browser, service.consoleUrl);
  const used = await service.makeLink('ada');
  await service.signIn(used);
  const late = await service.makeLink('ada');
  clock.advance(600_000);
  const alert = page.getByRole('alert');
  for (const bad of [used, late, inventedSecret('link')]) {
    await page.goto('about:blank');
    await page.goto(`${signInPage}#${bad}`);
    await signInButton(page).click();
    await alert.getByText('The link was used, or its 10 minutes are over').waitFor();
    await page.getByText('petstore console --as NAME').waitFor();
  }
  await page.getByLabel('Sign-in link').fill(`${signInPage}#${late.slice(1)}`);
  await signInButton(page).click();
  await alert.getByText('This link is incomplete').waitFor();
  assert.equal(await page.getByLabel('Sign-in link').inputValue(), '');
  await page.getByLabel('Sign-in link').fill(`${signInPage}#${await service.makeLink('ada')}`);
  await signInButton(page).click();
  await overview(page).waitFor();
});

test('after a session has ended, a pasted link sends what was typed', async () => {
  const { page } = await visitConsole(browser, service);
  await typeAccount(page, 'harbour shelter');
  await endSession(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
  await sessionEnded(page)
    .getByLabel('Sign-in link')
    .fill(await service.makeLink('ada'));
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'harbour shelter');
  await sessionEnded(page).getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'harbour shelter' }).waitFor();
  const found = await findAccount(service.store.accounts, 'harbour shelter');
  assert.equal(page.url(), `${service.consoleUrl}/accounts/${found?.id}`);
});

test('after a session has ended, a sign-in in another tab sends what was typed', async () => {
  const { page } = await visitConsole(browser, service);
  await typeAccount(page, 'hill shelter');
  await endSession(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
  await sessionEnded(page).getByRole('button', { name: 'Later' }).click();
  await page.getByText('The page shows its last data').waitFor();
  const other = await page.context().newPage();
  await other.goto(`${signInPage}#${await service.makeLink('ada')}`);
  await signInButton(other).click();
  await overview(other).waitFor();
  await page.getByRole('heading', { level: 1, name: 'hill shelter' }).waitFor();
  assert.equal(await page.getByText('Your session has ended').count(), 0);
});

test('a change that one operator asked for is not made by another who signs in', async () => {
  const { page } = await visitConsole(browser, service);
  await typeAccount(page, 'lake shelter');
  await endSession(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
  await sessionEnded(page)
    .getByLabel('Sign-in link')
    .fill(await service.makeLink('bob'));
  await sessionEnded(page).getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Another operator has signed in. Nothing was changed').waitFor();
  assert.equal(await findAccount(service.store.accounts, 'lake shelter'), undefined);
  await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { level: 1, name: 'lake shelter' }).waitFor();
});

test('signing out ends the session, and the page asks for a link', async () => {
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/audit`, 'Audit log');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  await page.getByLabel('Sign-in link').fill(await service.makeLink('ada'));
  await signInButton(page).click();
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
});

test('the page says since when the database is down, and recovers without a reload', async () => {
  const { page } = await visitConsole(browser, service);
  const file = databaseUrl.slice('sqlite:'.length);
  await showPage(page, `${service.consoleUrl}/`, 'Overview');
  renameSync(file, `${file}.moved`);
  const alert = page.getByRole('alert').filter({ hasText: 'The service has not answered since' });
  await alert.waitFor();
  assert.match(await alert.innerText(), /since \d\d:\d\d:\d\d UTC\./);
  await page.getByText('Requests a second').waitFor();
  renameSync(`${file}.moved`, file);
  await alert.waitFor({ state: 'detached' });
});
