// Contract: sections 1, 6 and 9.
import assert from 'node:assert/strict';
import { PLANS } from '../../src/domain/plan.ts';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { openApi } from '../../src/description/openapi.ts';
import { RESOURCES } from '../../src/resources/index.ts';
import type { Operation } from '../../src/http/operation.ts';
import { createPet, deletePet, getPet, listPets, CLIENT_PETS } from '../../src/resources/pets/operations.ts';
import { launchBrowser, openPage, openReference, showSection } from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const ABOVE_THE_OPERATIONS = ['Introduction', 'Getting a key'];
const BELOW_THE_OPERATIONS = [
  'Adopt an animal',
  'States of an animal',
  'Authentication',
  'Your account',
  'Roll your keys',
  'Rate limits',
  'Backing off',
  'Errors',
  'Paging',
  'Idempotency',
  'Conditional requests',
  'Beta and experimental',
  'Deprecation and versioning',
];
const addressOf = (name: string) => `#tag/${name.toLowerCase().replaceAll(' ', '-')}`;
/** The address of an operation within the page, and its heading. */
const sectionOf = (
  { method, path, summary }: Pick<Operation, 'method' | 'path' | 'summary'>,
  group = CLIENT_PETS.name,
) => [`#tag/${group.toLowerCase()}/${method}${path}`, summary] as const;

const lifetime = lifetimeOfFile();
const shared = await startTestService(lifetime, {
  env: { PETSTORE_ENVIRONMENT: 'staging', PRODUCTION_URL: EXAMPLE_URLS.production },
});
const browser = await startForFile(() => launchBrowser(lifetime));
// Most tests share a page, because a load of the reference takes seconds of a processor.
const reference = await startForFile(() => openReference(browser, shared.url));

test('the reference shows guide, groups and operations, and strikes the deprecated one', async () => {
  const { page } = reference;
  const entries = page.getByRole('complementary').getByRole('link');
  const names = (await entries.allInnerTexts()).map((text) => text.split('\n')[0]);
  const [schemas, ...rest] = names.slice(names.indexOf('Schemas'));
  assert.deepEqual(names.slice(0, names.indexOf('Schemas')), [
    ...ABOVE_THE_OPERATIONS,
    ...RESOURCES.flatMap(({ name, operations }) => [name].concat(operations.map(({ summary }) => summary))),
    ...BELOW_THE_OPERATIONS,
  ]);
  assert.equal(schemas, 'Schemas');
  assert.ok(rest.includes('NewPet'));
  const [path, heading] = sectionOf(getPet);
  await showSection(page, path, heading);
  const headings = '[...document.querySelectorAll("h3")]';
  const line = await page.evaluate(
    `getComputedStyle(${headings}.find((h3) => h3.textContent.includes('${heading}'))).textDecorationLine`,
  );
  assert.equal(line, 'line-through', 'getPet is deprecated');
  await page.getByText('This operation will be removed on 2030-12-05.').waitFor();
});

test('the guide shows the plan table of the code', async () => {
  const { page } = reference;
  await showSection(page, addressOf('Rate limits'), 'Rate limits');
  const section = page.getByRole('region', { name: 'Rate limits' });
  const rows = await section.getByRole('table').first().getByRole('row').allInnerTexts();
  assert.deepEqual(
    rows.slice(1).map((row) => row.toLowerCase().replaceAll(',', '').split('\t')),
    Object.entries(PLANS).map(([plan, limits]) => {
      const { perMinute, perDay } = limits === 'custom' ? { perMinute: limits, perDay: limits } : limits;
      return [plan, `${perMinute}`, `${perDay}`];
    }),
  );
});

test('every operation shows three samples, an example per error code, and all headers', async () => {
  const { page } = reference;
  await showSection(page, ...sectionOf(listPets));
  const shown = page.getByRole('button', { name: 'curl' }).first();
  await shown.click();
  const options = page.getByRole('listbox').getByRole('option');
  assert.deepEqual(await options.allInnerTexts(), ['curl', 'TypeScript', 'Python']);
  await options.getByText('Python').click();
  await page.getByText('from urllib.request import Request, urlopen').first().waitFor();
  await page.getByRole('tab', { name: 'Status: 429' }).first().click();
  await page
    .getByRole('button', { name: /^rate_limit_exceeded: / })
    .first()
    .click();
  const codes = (await options.allInnerTexts()).map((text) => text.split(':')[0]);
  assert.deepEqual(codes, ['rate_limit_exceeded', 'daily_limit_exceeded', 'key_banned']);
  await page.getByRole('option', { name: 'key_banned' }).click();
  await page.getByText('"This API key is banned').first().waitFor();
  await page.getByRole('button', { name: /^429 / }).first().click();
  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  for (const header of ['Retry-After', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']) {
    await page.getByText(header, { exact: true }).last().waitFor();
  }
});

test('a beta operation has its badge and leads to the page about it', async () => {
  const { page } = reference;
  await showSection(page, ...sectionOf(deletePet));
  const section = page.getByRole('region', { name: deletePet.summary });
  await section.getByText('Beta', { exact: true }).waitFor();
  await section.getByRole('link', { name: 'Beta and experimental' }).click();
  await page.waitForFunction("location.hash === '#tag/beta-and-experimental'");
  await page.getByText('It may change after a notice of 30 days in the changelog.').waitFor();
});

test('every section of the reference loads from this service without a console message', async () => {
  const { page, foreign, faults } = reference;
  for (const { name, operations } of RESOURCES)
    for (const its of operations) await showSection(page, ...sectionOf(its, name));
  await showSection(page, '#schemas', 'Schemas');
  for (const name of BELOW_THE_OPERATIONS) await showSection(page, addressOf(name), name);
  await page.waitForLoadState('networkidle');
  assert.deepEqual(foreign, []);
  assert.deepEqual(faults, []);
});

test('every link of the reference leads to this service, except the one to the maker', async () => {
  const { page } = reference;
  const origins = await page.evaluate<string[]>('Array.from(document.links, ({ origin }) => origin)');
  assert.deepEqual([...new Set(origins)].toSorted(), [shared.url, 'https://www.scalar.com']);
  const buttons = await page.getByRole('button').allInnerTexts();
  for (const offer of ['Ask AI', 'VS Code', 'Cursor', 'Share', 'Deploy', 'Developer Tools']) {
    assert.ok(!buttons.some((text) => text.includes(offer)), offer);
  }
});

test('both servers can be chosen, and the running one is preselected', async () => {
  const { page } = reference;
  await page
    .getByRole('button', { name: `${shared.url}/v1` })
    .first()
    .click();
  await page.getByRole('option', { name: EXAMPLE_URLS.production }).click();
  await page.getByText('Production', { exact: true }).waitFor();
});

test('an operation that the description marks as beta or experimental has a badge', async () => {
  const urls = { ...EXAMPLE_URLS, production: `${shared.url}/v1` };
  const operations = [
    { ...listPets, stability: 'beta' as const },
    { ...createPet, stability: 'experimental' as const },
  ];
  const { json } = openApi(urls, urls.production, [{ ...CLIENT_PETS, operations }]);
  const { page } = await openPage(browser, shared.url);
  await page.route('**/openapi.json', (route) =>
    route.fulfill({ body: json, contentType: 'application/json' }),
  );
  await page.goto(`${shared.url}/reference`);
  await showSection(page, ...sectionOf(listPets));
  await page.getByText('Beta', { exact: true }).first().waitFor();
  await showSection(page, ...sectionOf(createPet));
  await page.getByText('Experimental', { exact: true }).first().waitFor();
});

test('without JavaScript the reference is readable as text', async () => {
  const { page } = await openPage(browser, shared.url, { javaScriptEnabled: false });
  await page.goto(`${shared.url}/reference`);
  const text = await page.locator('pre').innerText();
  assert.match(text, /^# Pet Store API 1\.0\.0\n/);
  assert.match(text, /\n### List animals\n/);
});

test('when the description fails to load, the page says so and links the alternatives', async () => {
  const { page } = await openPage(browser, shared.url);
  await page.route('**/openapi.json', (route) => route.fulfill({ status: 503, body: '{}' }));
  await page.goto(`${shared.url}/reference`);
  await page.getByRole('alert').getByText('Reload the page, or read reference.md').waitFor();
});
