import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import type { Locator } from 'playwright-core';
import { parseExactJson } from '../../src/domain/parse.ts';
import type { Pet } from '../../src/resources/pets/schema.ts';
import { launchBrowser, openReference, showSection } from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

/** Far beyond 2^53: a client that reads JSON with floating point shows 9223372036854776000. */
const INT64_MAX = '9223372036854775807';

/** What the browser itself says on its console about an answer that is a refusal. */
const REFUSED = (status: string) =>
  `Failed to load resource: the server responded with a status of ${status}`;

/** Opens what tries the operation out. */
async function tryOut(path: string, heading: string): Promise<Locator> {
  await showSection(page, path, heading);
  const [method = '', target = ''] = path.replace(/#tag\/\w+\//, '').split(/\/(.*)/);
  const button = page.getByRole('button', { name: `Test Request (${method.toLowerCase()} /${target})` });
  await button.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Send' }).first().waitFor();
  return dialog;
}

async function pasteKey(dialog: Locator, key: string): Promise<void> {
  await dialog.getByRole('textbox', { name: /token/i }).first().fill(key);
}

async function send(dialog: Locator, status: string): Promise<void> {
  await dialog.getByRole('button', { name: 'Send' }).first().click();
  await dialog.getByText(status).first().waitFor();
}

const lifetime = lifetimeOfFile();
const staging = await startTestService(lifetime, { env: { PETSTORE_ENVIRONMENT: 'staging' } });
const shared = await startTestService(lifetime, { env: { STAGING_URL: `${staging.url}/v1` } });
const browser = await startForFile(() => launchBrowser(lifetime));
// The tests share a page, because a load of the reference takes seconds of a processor.
const { page, foreign, faults } = await startForFile(() => openReference(browser, shared.url));

beforeEach(async () => {
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  faults.length = 0;
});

test('"try it" shows a 401 without a key, a 429 beyond the limit, and the rate headers', async () => {
  const key = await shared.issueKey({ account: 'small', limits: { perMinute: 1, perDay: 9 } });
  const dialog = await tryOut('#tag/pets/GET/pets', 'List animals');
  await send(dialog, '401 Unauthorized');
  await dialog.getByText('"unauthorized"').waitFor();
  await dialog.getByText(/The API key is missing/).waitFor();
  await pasteKey(dialog, key);
  await send(dialog, '200 OK');
  await send(dialog, '429 Too Many Requests');
  await dialog.getByText('"rate_limit_exceeded"').waitFor();
  await dialog.getByRole('button', { name: /Response Headers/ }).click();
  const headers = await dialog.innerText();
  for (const header of [/x-ratelimit-limit\s+1\n/i, /x-ratelimit-remaining\s+0\n/i, /retry-after\s+\d+\n/i]) {
    assert.match(headers, header);
  }
  assert.deepEqual(faults, [REFUSED('401 (Unauthorized)'), REFUSED('429 (Too Many Requests)')]);
});

test('"try it" adds an animal, lists it, and shows its int64 exactly', async () => {
  const key = await shared.issueKey();
  const adding = await tryOut('#tag/pets/POST/pets', 'Add an animal');
  await pasteKey(adding, key);
  const body = adding.locator('.cm-content[contenteditable="true"]').last();
  await body.fill(`{"name":"Rex","categoryId":${INT64_MAX}}`);
  assert.equal(await adding.getByText('Form', { exact: true }).isVisible(), false, 'a form would round it');
  await send(adding, '201 Created');
  const answer = '.cm-content[contenteditable="false"]';
  await adding.locator(answer).getByText(INT64_MAX, { exact: true }).waitFor();
  await page.keyboard.press('Escape');

  const listing = await tryOut('#tag/pets/GET/pets', 'List animals');
  await send(listing, '200 OK');
  await listing.locator(answer).getByText(INT64_MAX, { exact: true }).waitFor();
  const stored = await shared.store.pets.list({ limit: 2 });
  const pets = parseExactJson(stored.items) as Pet[];
  assert.deepEqual(
    pets.map(({ name, categoryId }) => [name, categoryId]),
    [['Rex', BigInt(INT64_MAX)]],
  );
  assert.deepEqual(foreign, []);
  assert.deepEqual(faults, []);
});

// Before the others, because a field keeps what was typed.
test('"try it" fills the id of what is read, and leaves the id of what is changed empty', async () => {
  const id = async (path: string, heading: string) => {
    const dialog = await tryOut(path, heading);
    const field = dialog.getByRole('region', { name: 'Variables' }).getByRole('combobox', { name: 'Value' });
    const text = (await field.first().innerText()).trim();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    return text;
  };
  assert.equal(await id('#tag/pets/GET/pets/{petId}', 'Get an animal'), '42');
  for (const [path, heading] of [
    ['#tag/pets/PATCH/pets/{petId}', 'Change an animal'],
    ['#tag/pets/DELETE/pets/{petId}', 'Delete an animal'],
    ['#tag/store/POST/store/orders/{orderId}/complete', 'Complete an order'],
    ['#tag/keys/POST/account/keys/{keyId}/rotate', 'Rotate a key'],
  ] as const)
    assert.equal(await id(path, heading), '', path);
  const dialog = await tryOut('#tag/pets/DELETE/pets/{petId}', 'Delete an animal');
  await dialog.getByRole('button', { name: 'Send' }).first().click();
  await page.getByText('Path parameters must have values.').first().waitFor();
});

test('"try it" changes and deletes an animal', async () => {
  const key = await shared.issueKey();
  const created = await shared.store.pets.create({ name: 'Rex', categoryId: 7n });
  const id = 'value' in created ? String(created.value.id) : undefined;
  const forRex = async (path: string, heading: string) => {
    const dialog = await tryOut(path, heading);
    await dialog
      .getByRole('region', { name: 'Variables' })
      .getByRole('combobox', { name: 'Value' })
      .first()
      .fill(`${id}`);
    return dialog;
  };
  const changing = await forRex('#tag/pets/PATCH/pets/{petId}', 'Change an animal');
  await pasteKey(changing, key);
  const patched = page.waitForRequest((request) => request.method() === 'PATCH');
  await send(changing, '200 OK');
  assert.equal((await patched).headers()['content-type'], 'application/merge-patch+json');
  await page.keyboard.press('Escape');
  await send(await forRex('#tag/pets/DELETE/pets/{petId}', 'Delete an animal'), '204 No Content');
  assert.equal(await shared.store.pets.get(BigInt(id ?? 0)), undefined);
  assert.deepEqual(faults, []);
});

test('"try it" sends the int64 of a path exactly as typed', async () => {
  const dialog = await tryOut('#tag/pets/GET/pets/{petId}', 'Get an animal');
  await pasteKey(dialog, await shared.issueKey());
  const variables = dialog.getByRole('region', { name: 'Variables' });
  await variables.getByRole('combobox', { name: 'Value' }).first().fill(INT64_MAX);
  const asked = page.waitForRequest((request) => request.url().includes('/v1/pets/'));
  await send(dialog, '404 Not Found');
  assert.equal((await asked).url(), `${shared.url}/v1/pets/${INT64_MAX}`);
});

test('"try it" sends the optional parameters that are filled, and no others', async () => {
  const dialog = await tryOut('#tag/pets/GET/pets', 'List animals');
  await pasteKey(dialog, await shared.issueKey());
  const sent = async () => {
    const [request] = await Promise.all([page.waitForRequest(/\/v1\//), send(dialog, '200 OK')]);
    for (const name of ['if-none-match', 'x-request-id']) assert.equal(request.headers()[name], undefined);
    return request.url().slice(shared.url.length);
  };
  const limit = dialog.locator('#limit').getByRole('combobox', { name: 'Value' });
  assert.equal(await sent(), '/v1/pets');
  await limit.fill('5');
  await dialog.locator('#status').getByRole('button', { name: 'Value' }).click();
  await page.getByRole('menuitem', { name: 'sold' }).click();
  assert.equal(await sent(), '/v1/pets?limit=5&status=sold');
  await limit.fill('');
  assert.equal(await sent(), '/v1/pets?status=sold');
});

test('a pasted key is stored nowhere', async () => {
  const key = await shared.issueKey();
  await page.clock.install();
  const dialog = await tryOut('#tag/pets/GET/pets', 'List animals');
  await pasteKey(dialog, key);
  await send(dialog, '200 OK');
  // A page that keeps the key would store it a moment later.
  await page.clock.runFor(60_000);
  assert.ok(!JSON.stringify(await page.context().storageState({ indexedDB: true })).includes(key));
});

test('"try it" calls the chosen server', async () => {
  await page
    .getByRole('button', { name: `${shared.url}/v1` })
    .first()
    .click();
  await page.getByRole('option', { name: `${staging.url}/v1` }).click();
  const dialog = await tryOut('#tag/categories/GET/categories', 'List categories');
  await pasteKey(dialog, await staging.issueKey());
  await send(dialog, '200 OK');
  assert.deepEqual(foreign, [`${staging.url}/v1/categories`]);
});
