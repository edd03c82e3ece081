// Contract: section 10.1.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { launchBrowser, openPage, SCREENS, accessibilityFaults, sideways } from '../support/browser.ts';
import { startTestConsole } from '../support/console.ts';
import { showPage, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { findAccount } from '../support/store.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const service = await startTestConsole(lifetime);
const browser = await startForFile(() => launchBrowser(lifetime));
const passkeysPage = `${service.consoleUrl}/passkeys`;

const overview = (page: Page) => page.getByRole('heading', { level: 1, name: 'Overview' });
const passkeyButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' });
const table = (page: Page) => page.getByRole('region', { name: 'Your passkeys' });

/** Gives a browser an authenticator, which says yes at once, as a person with a finger on it. */
async function addAuthenticator(page: Page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return {
    /** From now on, the authenticator does or does not recognise the person. */
    recognise: (isUserVerified: boolean) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** Signs an operator in, opens the page of passkeys, and adds one. */
async function visitWithPasskey(name: string, role: 'admin' | 'viewer' = 'admin') {
  const watched = await visitConsole(browser, service, { name, role });
  const authenticator = await addAuthenticator(watched.page);
  await showPage(watched.page, passkeysPage, 'Your passkeys');
  await addPasskey(watched.page, 'laptop');
  await table(watched.page).getByRole('row', { name: 'laptop' }).waitFor();
  return { ...watched, authenticator };
}

for (const role of ['admin', 'viewer'] as const)
  test(`a passkey signs the ${role} in who added it, without a name`, async () => {
    const name = `adds as ${role}`;
    const { page, faults, foreign } = await visitConsole(browser, service, { name, role });
    await addAuthenticator(page);
    await showPage(page, `${service.consoleUrl}/`, 'Overview');
    await page.getByRole('link', { name: 'Your passkeys' }).click();
    await page.getByText('You have no passkey yet.').waitFor();
    await addPasskey(page, 'laptop');
    await page.getByText('The passkey laptop was added.').waitFor();
    await table(page).getByRole('row', { name: 'laptop' }).getByText('never').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await passkeyButton(page).click();
    const row = table(page).getByRole('row', { name: 'laptop' });
    await row.waitFor();
    await row.getByText('never').waitFor({ state: 'detached' });
    await page.getByText(name, { exact: true }).waitFor();
    assert.deepEqual([faults, foreign], [[], []]);
    const [entry] = (await service.store.audit.list({ limit: 1 })).items;
    assert.deepEqual(
      [entry?.action, entry?.actor.kind, entry?.after?.['name']],
      ['sign in', 'operator', 'laptop'],
    );
  });

test('a passkey that is removed ends its session and signs in no more', async () => {
  const { page } = await visitWithPasskey('removes');
  await table(page).getByRole('button', { name: 'Rename laptop' }).click();
  await page.getByLabel('Name', { exact: true }).fill('old laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await table(page).getByRole('row', { name: 'old laptop' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await passkeyButton(page).click();
  await table(page).getByRole('button', { name: 'Remove old laptop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  const ended = page.getByRole('dialog', { name: 'Your session has ended' });
  await passkeyButton(page).click();
  await ended.getByRole('alert').getByText('This passkey did not sign you in').waitFor();
});

test('a device adds one passkey of an operator', async () => {
  const { page } = await visitWithPasskey('adds twice');
  await addPasskey(page, 'again');
  await page.getByRole('alert').getByText('This device has a passkey of yours already.').waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'again');
});

test('a person who is not recognised is told that no passkey was used', async () => {
  const { page, authenticator } = await visitWithPasskey('is not recognised');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await authenticator.recognise(false);
  await passkeyButton(page).click();
  await page.getByRole('alert').getByText('No passkey was used').waitFor();
  await authenticator.recognise(true);
  await passkeyButton(page).click();
  await table(page).waitFor();
});

test('after a session has ended, a passkey sends what was typed', async () => {
  const { page } = await visitWithPasskey('types');
  await page.getByRole('link', { name: 'Accounts' }).click();
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByLabel('Name', { exact: true }).fill('river shelter');
  const [cookie] = await page.context().cookies();
  const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
  assert.equal((await service.ask('/sign-out', { method: 'POST', headers })).status, 204);
  await page.getByRole('dialog').getByRole('button', { name: 'Create account' }).click();
  await passkeyButton(page).click();
  await page.getByRole('heading', { level: 1, name: 'river shelter' }).waitFor();
  assert.ok(await findAccount(service.store.accounts, 'river shelter'));
});

test('an admin removes the passkey of another operator, and a viewer does not see those of others', async () => {
  await (await visitWithPasskey('loses it', 'viewer')).page.context().close();
  const viewer = await visitConsole(browser, service, { name: 'looks', role: 'viewer' });
  await showPage(viewer.page, `${service.consoleUrl}/operators`, 'Operators');
  assert.equal(await viewer.page.getByText('laptop').count(), 0);
  const { page } = await visitConsole(browser, service, { name: 'helps' });
  await showPage(page, `${service.consoleUrl}/operators`, 'Operators');
  const row = page
    .getByRole('region', { name: 'Passkeys of all operators' })
    .getByRole('row', { name: 'loses it' });
  await row.getByRole('button', { name: 'Remove laptop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
});

test('at an IP address, the pages offer links only, and say where passkeys work', async () => {
  const { port } = new URL(service.consoleUrl);
  const address = `http://127.0.0.1:${port}`;
  const { page } = await openPage(browser, address);
  await page.goto(`${address}/passkeys`);
  await page.getByLabel('Sign-in link').fill(await service.makeLink('ada'));
  assert.equal(await passkeyButton(page).count(), 0);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText(`Open the console at http://localhost:${port}.`).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add passkey' }).count(), 0);
});

test('a sign-in page with a passkey leads to the overview', async () => {
  const { page } = await visitWithPasskey('goes on');
  await page.context().clearCookies();
  await page.goto(`${service.consoleUrl}/sign-in`);
  await passkeyButton(page).click();
  await overview(page).waitFor();
});

for (const { device, options } of SCREENS)
  test(`on a ${device}, the pages of passkeys can be read and used by everybody`, async () => {
    const { page, faults } = await visitConsole(browser, service, { name: `reads on a ${device}`, options });
    await addAuthenticator(page);
    await showPage(page, passkeysPage, 'Your passkeys');
    assert.deepEqual(await accessibilityFaults(page), []);
    await addPasskey(page, 'x'.repeat(100));
    await table(page).getByRole('row', { name: 'xxx' }).waitFor();
    await table(page).getByRole('button', { name: 'Remove' }).click();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await sideways(page)) <= 0);
    await page.keyboard.press('Escape');
    await page.goto(`${service.consoleUrl}/sign-in`);
    await passkeyButton(page).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await sideways(page)) <= 0);
    assert.deepEqual(faults, []);
  });
