// Contract: section 10.1.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { call } from '../support/api.ts';
import { launchBrowser } from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { startTestConsole } from '../support/console.ts';
import { CONSOLE_PAGES, showPage, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { requireValue } from '../storage/fixture.ts';
import { ROOT, createAccount, findAccount } from '../support/store.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const clock = fakeClock(Date.now());
const service = await startTestConsole(lifetime, { clock, env: { BAN_AFTER: '2' } });
const browser = await startForFile(() => launchBrowser(lifetime));
const { accounts } = service.store;

const HOSTILE = '<b onclick=alert(1)>"label"';
const BUSINESS = { perMinute: 1_000, perDay: 100_000 };

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const inDialog = (page: Page, name: string) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });

const focused = (page: Page, place: Locator) => place.and(page.locator(':focus'));

/** Moves the focus to `place` with the Tab key alone. */
async function tabTo(page: Page, place: Locator): Promise<void> {
  await place.waitFor();
  for (let tries = 0; tries < 100; tries++) {
    if ((await focused(page, place).count()) === 1) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`The Tab key does not reach ${String(place)}.`);
}

async function press(page: Page, place: Locator): Promise<void> {
  await tabTo(page, place);
  await page.keyboard.press('Enter');
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('status').getByText(text).waitFor();
}

/** The text of a secret that the page shows once. It is not on the page any more after that. */
async function readSecret(page: Page): Promise<string> {
  const secret = await page.getByRole('dialog').locator('.secret').innerText();
  await press(page, inDialog(page, 'I have stored it'));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.ok(!(await page.content()).includes(secret));
  return secret;
}

test('an admin changes accounts and keys with the keyboard alone', async () => {
  const { page, faults, foreign } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/`, 'Overview');
  await press(page, page.getByRole('link', { name: 'Accounts' }));
  await focused(page, heading(page, 'Accounts')).waitFor();
  await press(page, button(page, 'Create account'));
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await page.keyboard.type('hill shelter');
  await tabTo(page, page.getByRole('dialog').getByLabel('Plan', { exact: true }));
  await page.keyboard.type('ent');
  await tabTo(page, page.getByLabel('Requests per minute'));
  await page.keyboard.type('5000');
  await tabTo(page, page.getByLabel('Requests per day'));
  await page.keyboard.type('1000000');
  await page.keyboard.press('Enter');
  await heading(page, 'hill shelter').waitFor();
  await say(page, 'The account hill shelter was created.');

  await press(page, button(page, 'Create key'));
  await tabTo(page, page.getByLabel('Label'));
  await page.keyboard.type(HOSTILE);
  await tabTo(page, page.getByLabel('pets:write'));
  await page.keyboard.press('Space');
  await press(page, inDialog(page, 'Create key'));
  const key = await readSecret(page);
  assert.equal((await call(service.url, '/v1/pets', { key })).status, 200);
  assert.equal((await call(service.url, '/v1/pets', { key, body: '{}' })).status, 403);

  const row = page.getByRole('row', { name: HOSTILE });
  await press(page, row.getByRole('button', { name: 'Rotate' }));
  await press(page, inDialog(page, 'Rotate'));
  const next = await readSecret(page);
  await page.getByText('rotated', { exact: true }).waitFor();
  await press(page, row.getByRole('button', { name: 'Revoke' }).last());
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  // The browser hides the dialog before the page removes it, and a hidden one has no role.
  await page.locator('dialog').waitFor({ state: 'detached' });
  await focused(page, row.getByRole('button', { name: 'Revoke' }).last()).waitFor();
  await page.keyboard.press('Enter');
  await press(page, inDialog(page, 'Cancel'));
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await focused(page, row.getByRole('button', { name: 'Revoke' }).last()).waitFor();
  await page.keyboard.press('Enter');
  await press(page, inDialog(page, 'Revoke'));
  await say(page, 'is revoked.');

  await press(page, button(page, 'Suspend'));
  await press(page, inDialog(page, 'Suspend'));
  await say(page, 'All keys of hill shelter are refused now.');
  assert.notEqual((await findAccount(accounts, 'hill shelter'))?.suspendedAt, undefined);
  await press(page, button(page, 'Resume'));
  await press(page, inDialog(page, 'Resume'));
  await button(page, 'Suspend').waitFor();
  assert.notEqual(key, next);
  const kept = await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage]) + location');
  assert.ok(!kept.includes('petstore_live'));
  assert.deepEqual([faults, foreign], [[], []]);
});

test('a change by somebody else is shown beside the typed values; the admin decides', async () => {
  const { page } = await visitConsole(browser, service);
  const { id } = await createAccount(accounts, 'lake shelter', 'free', { perMinute: 60, perDay: 1_000 });
  const elsewhere = (values: object) => accounts.change(ROOT, id, values);
  await showPage(page, `${service.consoleUrl}/accounts/${id}`, 'lake shelter');
  await button(page, 'Change').click();
  await page.getByLabel('Plan', { exact: true }).selectOption('business');
  await elsewhere({ plan: 'pro' });
  await inDialog(page, 'Save').click();
  const alert = page.getByRole('alert').filter({ hasText: 'Somebody else changed this account' });
  assert.match(await alert.getByRole('row', { name: 'Plan' }).innerText(), /pro\s+business/);
  await elsewhere({ name: 'sea shelter' });
  await inDialog(page, 'Overwrite with mine').click();
  await say(page, 'was changed.');
  const changed = requireValue(await accounts.get(id));
  assert.deepEqual([changed.name, changed.plan, changed.limits], ['sea shelter', 'business', BUSINESS]);

  await heading(page, 'sea shelter').waitFor();
  await button(page, 'Change').click();
  await page.getByLabel('Name', { exact: true }).fill('pond shelter');
  await elsewhere({ name: 'bay shelter' });
  await inDialog(page, 'Save').click();
  await button(page, 'Use the current values').click();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'bay shelter');
  await inDialog(page, 'Save').click();
  await heading(page, 'bay shelter').waitFor();
});

test('a dialog shows a refusal and keeps the typed values', async () => {
  const { page } = await visitConsole(browser, service);
  await createAccount(accounts, 'taken', 'free', { perMinute: 60, perDay: 1_000 });
  await showPage(page, `${service.consoleUrl}/accounts`, 'Accounts');
  await button(page, 'Create account').click();
  await page.getByLabel('Name', { exact: true }).fill('Taken');
  await inDialog(page, 'Create account').click();
  await page.getByRole('alert').getByText('There is an account taken already').waitFor();
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Taken');
});

test('an error leaves its dialog when a field changes', async () => {
  const { page } = await visitConsole(browser, service);
  await createAccount(accounts, 'double', 'free', { perMinute: 60, perDay: 1_000 });
  await showPage(page, `${service.consoleUrl}/accounts`, 'Accounts');
  await button(page, 'Create account').click();
  await page.getByLabel('Name', { exact: true }).fill('double');
  const alert = page.getByRole('dialog').getByRole('alert');
  for (const change of [
    () => page.getByRole('dialog').getByLabel('Plan', { exact: true }).selectOption('pro'),
    () => page.getByLabel('Name', { exact: true }).fill('double 2'),
  ]) {
    await inDialog(page, 'Create account').click();
    await alert.getByText('There is an account double already').waitFor();
    await alert.getByText('Could not create account').waitFor();
    await change();
    await alert.waitFor({ state: 'detached' });
  }
});

test('Escape loses no key, link or token, not even one that is still on its way', async () => {
  const { page } = await visitConsole(browser, service);
  const { id } = await createAccount(accounts, 'pier', 'free', { perMinute: 60, perDay: 1_000 });
  await page.route('**/admin/v1/**', async (route) => {
    if (route.request().method() === 'POST') await page.keyboard.press('Escape');
    await route.continue();
  });
  const create = async (opener: Locator, submit: string) => {
    await opener.click();
    await inDialog(page, submit).click();
    await page.getByRole('dialog').locator('.secret').waitFor();
    for (let times = 0; times < 3; times++) await page.keyboard.press('Escape');
    return readSecret(page);
  };
  await showPage(page, `${service.consoleUrl}/accounts/${id}`, 'pier');
  const keys = page.getByRole('region', { name: 'Keys of the account' });
  const key = await create(button(page, 'Create key'), 'Create key');
  const next = await create(keys.getByRole('button', { name: 'Rotate' }), 'Rotate');
  for (const each of [key, next])
    assert.equal((await call(service.url, '/v1/pets', { key: each })).status, 200);
  await showPage(page, `${service.consoleUrl}/operators`, 'Operators');
  const row = page.getByRole('region', { name: 'Operators' }).getByRole('row', { name: 'ada' });
  await create(row.getByRole('button', { name: 'Create sign-in link' }), 'Create sign-in link');
  await create(row.getByRole('button', { name: 'Create token' }), 'Create token');
});

test('the list of operators, and the dialog that removes one, say which of them is you', async () => {
  const { page } = await visitConsole(browser, service);
  await service.session('eve');
  await showPage(page, `${service.consoleUrl}/operators`, 'Operators');
  const operators = page.getByRole('region', { name: 'Operators' });
  for (const [name, times] of [
    ['eve', 0],
    ['ada', 1],
  ] as const) {
    const row = operators.getByRole('row', { name });
    assert.equal(await row.getByText('you', { exact: true }).count(), times);
    await row.getByRole('button', { name: 'Remove' }).click();
    await inDialog(page, 'Remove').waitFor();
    assert.equal(await page.getByRole('dialog').getByText('This is you').count(), times);
    await inDialog(page, 'Cancel').click();
  }
});

test('a half-typed account filters nothing, so that the audit log says nothing untrue', async () => {
  const { page } = await visitConsole(browser, service);
  await createAccount(accounts, 'noisy', 'free', { perMinute: 60, perDay: 1_000 });
  const { id } = await createAccount(accounts, 'silent', 'free', { perMinute: 60, perDay: 1_000 });
  const account = page.getByLabel('Account');
  await showPage(page, `${service.consoleUrl}/audit?accountId=${id}`, 'Audit log');
  const log = page.getByRole('region', { name: 'Changes' });
  assert.equal(await account.inputValue(), 'silent');
  assert.equal(await log.getByRole('link', { name: 'noisy' }).count(), 0);
  await account.press('End');
  await account.press('Backspace');
  await page.getByText('Choose a name from the list.').waitFor();
  await log.getByRole('link', { name: 'noisy' }).first().waitFor();
});

test('a leaked key is found by the key, and a ban is lifted', async () => {
  const { page } = await visitConsole(browser, service);
  const key = await service.issueKey({ account: 'leaky', limits: { perMinute: 1, perDay: 9 } });
  for (let sent = 0; sent < 4; sent++) await call(service.url, '/v1/pets', { key });
  await showPage(page, `${service.consoleUrl}/keys`, 'Keys');
  await page.getByLabel('Whole key').fill(key);
  await button(page, 'Find').click();
  await page
    .getByRole('region', { name: 'The key that was found' })
    .getByRole('link', { name: 'leaky' })
    .click();
  await heading(page, 'leaky').waitFor();
  await page.getByRole('link', { name: 'Bans' }).click();
  await button(page, /^Lift/).click();
  await inDialog(page, 'Lift ban').click();
  await page.getByText('No key is banned.').waitFor();
  assert.equal(service.logText().includes(key), false);
});

test('an admin creates operators, links and tokens, and the audit log has entries', async () => {
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/operators`, 'Operators');
  await button(page, 'Create operator').click();
  await page.getByLabel('Name', { exact: true }).fill(HOSTILE);
  await inDialog(page, 'Create operator').click();
  const row = page.getByRole('region', { name: 'Operators' }).getByRole('row', { name: HOSTILE });
  await row.getByRole('button', { name: 'Create sign-in link' }).click();
  await inDialog(page, 'Create sign-in link').click();
  const link = await readSecret(page);
  assert.equal((await service.signIn(link.split('#')[1] ?? '')).status, 204);
  await row.getByRole('button', { name: 'Create token' }).click();
  await inDialog(page, 'Create token').click();
  const token = await readSecret(page);
  assert.equal((await service.ask('/admin/v1/me', { key: token })).status, 200);
  const ofToken = page
    .getByRole('region', { name: 'Tokens of programs' })
    .getByRole('row', { name: HOSTILE });
  await ofToken.getByRole('button', { name: 'Revoke' }).click();
  await inDialog(page, 'Revoke').click();
  await ofToken.waitFor({ state: 'detached' });
  assert.equal((await service.ask('/admin/v1/me', { key: token })).status, 401);
  await row.getByRole('button', { name: 'Remove' }).click();
  await inDialog(page, 'Remove').click();
  await row.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Audit' }).click();
  for (const action of [
    'created an operator',
    'created a sign-in link',
    'created a token',
    'revoked a token',
    'removed an operator',
  ])
    await page.getByRole('row', { name: action }).filter({ hasText: HOSTILE }).first().waitFor();
});

test('a viewer sees every page and no button that changes something', async () => {
  const { page, faults } = await visitConsole(browser, service, { name: 'vera', role: 'viewer' });
  const account = await createAccount(accounts, 'seen', 'free', { perMinute: 60, perDay: 1_000 });
  await service.issueKey({ account: 'seen' });
  const pages = { ...CONSOLE_PAGES, [`/accounts/${account.id}`]: 'seen' };
  for (const [path, title] of Object.entries(pages)) {
    await showPage(page, service.consoleUrl + path, title);
    const change = /^(Create|Change|Suspend|Resume|Rotate|Revoke|Lift|Remove)/;
    assert.equal(await page.getByRole('button', { name: change }).count(), 0, title);
  }
  assert.deepEqual(faults, []);
});

test('a former admin sees why a change is refused', async () => {
  const { page } = await visitConsole(browser, service);
  await showPage(page, `${service.consoleUrl}/operators`, 'Operators');
  const [name = '', value = ''] = (await service.session('vera', 'viewer')).split('=');
  await page.context().addCookies([{ name, value, url: service.consoleUrl }]);
  await button(page, 'Create operator').click();
  await page.getByLabel('Name', { exact: true }).fill('mallory');
  await inDialog(page, 'Create operator').click();
  await page.getByRole('alert').getByText('Your role is viewer').waitFor();
});
