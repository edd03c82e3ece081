import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { parseExactJson } from '../../src/domain/parse.ts';
import type { Pet } from '../../src/resources/pets/schema.ts';
import { launchBrowser, openReference } from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';
import { CLIENT } from '../support/store.ts';

/** Far beyond 2^53: a client that reads JSON with floating point shows 9223372036854776000. */
const INT64_MAX = '9223372036854775807';

const lifetime = lifetimeOfFile();
const staging = await startTestService(lifetime, { env: { PETSTORE_ENVIRONMENT: 'staging' } });
const shared = await startTestService(lifetime, { env: { STAGING_URL: `${staging.url}/v1` } });
const browser = await startForFile(() => launchBrowser(lifetime));
const { page } = await startForFile(() => openReference(browser, shared.url));

/** The form that tries an operation. */
async function tryOut(id: string): Promise<Locator> {
  const form = page.locator(`#${id} form`);
  if (!(await form.isVisible())) await page.locator(`#${id}`).getByText('Try it').click();
  return form;
}

async function send(form: Locator, status: string): Promise<void> {
  await form.getByRole('button', { name: /^Send to/ }).click();
  await form.locator('.outcome strong', { hasText: status }).waitFor();
}

test('"try it" shows the refusal, the rate headers, the time, and the line that was sent', async () => {
  const key = await shared.issueKey({ account: 'small', limits: { perMinute: 1, perDay: 9 } });
  const form = await tryOut('listPets');
  await form.getByLabel('API key').fill('petstore_live_wrong');
  await send(form, '401 Unauthorized');
  await form.getByLabel('API key').fill(key);
  await form.getByLabel('limit').fill('1');
  await send(form, '200 OK');
  await send(form, '429 Too Many Requests');
  assert.match(await form.locator('.outcome').innerText(), / in \d+ ms/);
  const result = await form.locator('.result').innerText();
  for (const part of [/"rate_limit_exceeded"/, /x-ratelimit-remaining: 0/, /retry-after: \d+/])
    assert.match(result, part);
  assert.ok(result.includes(`curl -i '${shared.url}/v1/pets?limit=1'`));
  assert.ok(!result.includes(key), 'the line has the name of the variable');
});

test('"try it" has a choice for values that are known, and tells a screen reader the status alone', async () => {
  const key = await shared.issueKey();
  const form = await tryOut('listPets');
  const status = form.getByLabel('status');
  assert.deepEqual(await status.locator('option').allInnerTexts(), ['', 'available', 'pending', 'sold']);
  assert.deepEqual(await form.getByLabel('mine').locator('option').allInnerTexts(), ['', 'true', 'false']);
  await form.getByLabel('API key').fill(key);
  await status.selectOption('sold');
  await send(form, '200 OK');
  assert.match(await form.locator('.result').innerText(), /[?&]status=sold'/);
  assert.match(await form.getByRole('status').innerText(), /^200 OK in \d+ ms$/);
  await status.selectOption('');
});

test('"try it" sends and shows an int64 exactly', async () => {
  const key = await shared.issueKey();
  const form = await tryOut('createPet');
  await form.getByLabel('API key').fill(key);
  await form.getByLabel('Body').fill(`{"name":"Rex","categoryId":${INT64_MAX}}`);
  await send(form, '201 Created');
  assert.match(await form.locator('.result').innerText(), new RegExp(`"categoryId": ${INT64_MAX}\\n`));
  const stored = await shared.store.pets.list({ limit: 2 });
  const pets = parseExactJson(stored.items) as Pet[];
  assert.deepEqual(
    pets.map(({ name, categoryId }) => [name, categoryId]),
    [['Rex', BigInt(INT64_MAX)]],
  );
});

test('"try it" fills the id of what is read, leaves the id of what is changed empty, and names the environment', async () => {
  const readId = async (id: string, name: string) => (await tryOut(id)).getByLabel(name).inputValue();
  assert.equal(await readId('getPet', 'petId'), '42');
  for (const [id, name] of [
    ['updatePet', 'petId'],
    ['deletePet', 'petId'],
    ['completeOrder', 'orderId'],
    ['rotateKey', 'keyId'],
  ] as const)
    assert.equal(await readId(id, name), '', id);
  const form = await tryOut('deletePet');
  await form.getByRole('button', { name: 'Send to production' }).click();
  assert.equal(await form.locator('input:invalid').first().getAttribute('name'), 'petId');
  assert.equal(await form.locator('.result').innerText(), '');
});

test('"try it" changes and deletes an animal', async () => {
  const created = await shared.store.pets.create(CLIENT, { name: 'Rex', categoryId: 7n });
  const id = 'value' in created ? String(created.value.id) : '';
  const change = await tryOut('updatePet');
  await change.getByLabel('petId').fill(id);
  await change.getByLabel('Body').fill('{"name":"Max"}');
  await send(change, '200 OK');
  assert.match(await change.locator('.result').innerText(), /"name": "Max"/);
  const removal = await tryOut('deletePet');
  await removal.getByLabel('petId').fill(id);
  await send(removal, '204 No Content');
});

test('"try it" sends to the other environment when it is chosen, with the key of the tab', async () => {
  const key = await staging.issueKey();
  const form = await tryOut('listPets');
  await form.getByLabel('API key').fill(key);
  await form.getByLabel('Server').selectOption(`${staging.url}/v1`);
  await form.getByRole('button', { name: 'Send to staging' }).click();
  await form.locator('.outcome strong', { hasText: '200 OK' }).waitFor();
  await page.reload();
  assert.equal(await (await tryOut('listCategories')).getByLabel('API key').inputValue(), key);
});
