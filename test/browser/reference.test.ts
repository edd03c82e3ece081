// Contract: sections 1, 6 and 9.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANS } from '../../src/domain/plan.ts';
import { EXAMPLE_URLS } from '../../src/config.ts';
import { openApi } from '../../src/http/openapi.ts';
import { PATHS } from '../../src/http/openapi/operations.ts';
import { launchBrowser, openPage, openReference, showSection } from '../support/browser.ts';
import { startTestService } from '../support/service.ts';

const GUIDE = [
  'Introduction',
  'Getting a key',
  'Authentication',
  'Rate limits',
  'Backing off',
  'Errors',
  'Paging',
  'Idempotency',
  'Conditional requests',
  'Deprecation and versioning',
];
const OPERATIONS = [
  ['#tag/pets/GET/pets', 'List animals'],
  ['#tag/pets/POST/pets', 'Add an animal'],
  ['#tag/pets/GET/pets/{petId}', 'Get an animal'],
] as const;

test('the reference asks this service alone, and its console stays silent, from the first to the last section', async (t) => {
  const service = await startTestService(t);
  const { page, foreign, faults } = await openReference(await launchBrowser(t), service.url);
  for (const [path, heading] of OPERATIONS) await showSection(page, path, heading);
  await showSection(page, '#schemas', 'Schemas');
  await page.getByRole('button', { name: 'Open Search' }).first().click();
  await page.getByRole('combobox', { name: 'Enter search query' }).fill('backing');
  await page.getByRole('option', { name: /Backing off/ }).waitFor();
  await page.waitForLoadState('networkidle');
  assert.deepEqual(foreign, []);
  assert.deepEqual(faults, []);
});

test('the reference has the guide, the groups Pets and Store, and the operations with the deprecated one struck through', async (t) => {
  const service = await startTestService(t);
  const { page } = await openReference(await launchBrowser(t), service.url);
  const entries = page.getByRole('complementary').getByRole('link');
  const names = (await entries.allInnerTexts()).map((text) => text.split('\n')[0]);
  const [schemas, ...rest] = names.slice(names.indexOf('Schemas'));
  assert.deepEqual(names.slice(0, names.indexOf('Schemas')), [
    ...GUIDE,
    'Pets',
    ...OPERATIONS.map(([, heading]) => heading),
    'Store',
  ]);
  assert.equal(schemas, 'Schemas');
  assert.ok(rest.includes('NewPet'));
  const [path, heading] = OPERATIONS[2];
  await showSection(page, path, heading);
  const headings = '[...document.querySelectorAll("h3")]';
  const line = await page.evaluate(
    `getComputedStyle(${headings}.find((h3) => h3.textContent.includes('${heading}'))).textDecorationLine`,
  );
  assert.equal(line, 'line-through', 'getPet is deprecated');
  await page.getByText('This operation will be removed on 2030-12-05.').waitFor();
  await showSection(page, '#tag/store', 'Store');
  await page.getByText('No operation of this group is specified yet.').waitFor();
});

test('the reference offers no service of others: all links lead to this service, but for the one to the maker', async (t) => {
  const service = await startTestService(t);
  const { page } = await openReference(await launchBrowser(t), service.url);
  const origins = await page.evaluate<string[]>('Array.from(document.links, ({ origin }) => origin)');
  assert.deepEqual([...new Set(origins)].toSorted(), [service.url, 'https://www.scalar.com']);
  const buttons = await page.getByRole('button').allInnerTexts();
  for (const offer of ['Ask AI', 'VS Code', 'Cursor', 'Share', 'Deploy', 'Developer Tools']) {
    assert.ok(!buttons.some((text) => text.includes(offer)), offer);
  }
});

test('the plan table of the guide is the one in the code', async (t) => {
  const service = await startTestService(t);
  const { page } = await openReference(await launchBrowser(t), service.url);
  const rows = await page.getByRole('table').first().getByRole('row').allInnerTexts();
  assert.deepEqual(
    rows.slice(1).map((row) => row.toLowerCase().replaceAll(',', '').split('\t')),
    Object.entries(PLANS).map(([plan, limits]) => {
      const { perMinute, perDay } = limits === 'custom' ? { perMinute: limits, perDay: limits } : limits;
      return [plan, `${perMinute}`, `${perDay}`];
    }),
  );
});

test('both servers can be chosen, and the running one is chosen first', async (t) => {
  const service = await startTestService(t, { env: { PETSTORE_ENVIRONMENT: 'staging' } });
  const { page } = await openReference(await launchBrowser(t), service.url);
  await page
    .getByRole('button', { name: `${service.url}/v1` })
    .first()
    .click();
  await page.getByRole('option', { name: EXAMPLE_URLS.production }).click();
  await page.getByText('Production', { exact: true }).waitFor();
});

test('every operation has samples in curl, TypeScript and Python, each error code an example, each response its headers', async (t) => {
  const service = await startTestService(t);
  const { page } = await openReference(await launchBrowser(t), service.url);
  await showSection(page, ...OPERATIONS[0]);
  const shown = page.getByRole('button', { name: 'curl' }).first();
  await shown.click();
  assert.deepEqual(await page.getByRole('option').allInnerTexts(), ['curl', 'TypeScript', 'Python']);
  await page.getByRole('option', { name: 'Python' }).click();
  await page.getByText('from urllib.request import Request, urlopen').first().waitFor();
  await page.getByRole('tab', { name: 'Status: 429' }).first().click();
  await page
    .getByRole('button', { name: /^rate_limit_exceeded: / })
    .first()
    .click();
  const codes = (await page.getByRole('option').allInnerTexts()).map((text) => text.split(':')[0]);
  assert.deepEqual(codes, ['rate_limit_exceeded', 'daily_limit_exceeded', 'key_banned']);
  await page.getByRole('option', { name: 'key_banned' }).click();
  await page.getByText('"This API key is banned').first().waitFor();
  await page.getByRole('button', { name: /^429 / }).first().click();
  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  for (const header of ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']) {
    await page.getByText(header, { exact: true }).last().waitFor();
  }
});

test('an operation that the description marks as beta or experimental has a badge', async (t) => {
  const service = await startTestService(t);
  const pets = PATHS['/pets'];
  assert.ok(pets?.get !== undefined && pets.post !== undefined);
  const urls = { ...EXAMPLE_URLS, production: `${service.url}/v1` };
  const { json } = openApi(urls, 'production', {
    '/pets': {
      get: { ...pets.get, 'x-stability': 'beta' },
      post: { ...pets.post, 'x-stability': 'experimental' },
    },
  });
  const { page } = await openPage(await launchBrowser(t), service.url);
  await page.route('**/openapi.json', (route) =>
    route.fulfill({ body: json, contentType: 'application/json' }),
  );
  await page.goto(`${service.url}/reference`);
  await showSection(page, ...OPERATIONS[0]);
  await page.getByText('Beta', { exact: true }).first().waitFor();
  await showSection(page, ...OPERATIONS[1]);
  await page.getByText('Experimental', { exact: true }).first().waitFor();
});

test('without script the reference is there as text', async (t) => {
  const service = await startTestService(t);
  const { page } = await openPage(await launchBrowser(t), service.url, { javaScriptEnabled: false });
  await page.goto(`${service.url}/reference`);
  const text = await page.locator('pre').innerText();
  assert.match(text, /^# Pet Store API 1\.0\.0\n/);
  assert.match(text, /\n### List animals\n/);
});

test('when the description cannot be loaded, the page says so and where else to look', async (t) => {
  const service = await startTestService(t);
  const { page } = await openPage(await launchBrowser(t), service.url);
  await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '{}' }));
  await page.goto(`${service.url}/reference`);
  await page.getByRole('alert').getByText('Reload the page, or read reference.md').waitFor();
});
