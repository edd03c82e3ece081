// The page for partners in client/examples.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { patch, requireValue } from '../storage/fixture.ts';
import { launchBrowser, openPage } from '../support/browser.ts';
import { NODE_20, projectWithClient } from '../support/packed-client.ts';
import { until } from '../support/until.ts';
import { startTestService } from '../support/service.ts';
import { CLIENT } from '../support/store.ts';
import { test } from '../support/test.ts';

const SOURCE = readFileSync(new URL('../../client/examples/animals-page.js', import.meta.url), 'utf8');

const PHOTO = 'https://photos.example/rex.png?size="1"&of=rex';
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Resolves when the page shows exactly these animals: name, then breed and age. */
async function expectAnimals(page: Page, animals: readonly string[]): Promise<void> {
  const items = page.getByRole('listitem');
  await until(async () => {
    const shown = (await items.allInnerTexts()).map((text) => text.replaceAll(/\s*\n\s*/g, ': '));
    return isDeepStrictEqual(shown, animals);
  });
}

test('the page for partners shows animals safely, and follows every change of them', async (t) => {
  const project = await projectWithClient(t);
  const service = await startTestService(t);
  const browser = await launchBrowser(t);
  const { pets } = service.store;
  const apiKey = await service.issueKey({ scopes: ['pets:read', 'events:read'] });
  const add = async (name: string, fields = {}) =>
    requireValue(await pets.create(CLIENT, { name, categoryId: 7n, status: 'available', ...fields }));
  const year = new Date().getUTCFullYear();
  const rex = await add('Rex', { breed: 'Collie', birthDate: `${year - 20}-01-01`, photoUrls: [PHOTO] });
  await add('Sold already', { status: 'sold' });

  project.write('animals-page.js', SOURCE);
  const variables = { PETSTORE_API_KEY: apiKey, PETSTORE_URL: `${service.url}/v1`, PORT: '0' };
  const child = project.start(NODE_20, ['animals-page.js'], variables);
  t.after(() => child.kill('SIGKILL'));
  const { value: site = '' } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  const { page, foreign, faults } = await openPage(browser, new URL(site).origin);
  const referrers: (string | undefined)[] = [];
  await page.route('https://photos.example/**', async (route) => {
    referrers.push((await route.request().allHeaders())['referer']);
    await route.fulfill({ contentType: 'image/png', body: PIXEL });
  });
  await page.goto(site);
  await expectAnimals(page, ['Rex: Collie, 20 years']);
  const photo = page.locator('img');
  await until(async () => (await page.evaluate("document.querySelector('img').naturalWidth")) === 1);
  assert.equal(await photo.getAttribute('loading'), 'lazy');
  assert.equal(await photo.getAttribute('referrerpolicy'), 'no-referrer');

  const hostile = `<img src=x onerror="document.title=1">&amp;'`;
  const mira = await add(hostile, { breed: '<b>Border</b>' });
  await expectAnimals(page, [`${hostile}: <b>Border</b>`, 'Rex: Collie, 20 years']);
  requireValue(await pets.update(CLIENT, mira.id, patch({ name: 'Mira', birthDate: `${year - 1}-01-01` })));
  await expectAnimals(page, ['Mira: <b>Border</b>, 1 year', 'Rex: Collie, 20 years']);
  requireValue(await pets.delete(CLIENT, rex.id));
  await expectAnimals(page, ['Mira: <b>Border</b>, 1 year']);
  requireValue(await pets.update(CLIENT, mira.id, patch({ status: 'sold' })));
  await expectAnimals(page, []);

  assert.ok(referrers.length > 0 && referrers.every((referrer) => referrer === undefined));
  assert.deepEqual(new Set(foreign), new Set([new URL(PHOTO).href]));
  assert.deepEqual(faults, []);
  for (const path of ['', 'page.js']) {
    const answer = await fetch(`${site}${path}`);
    assert.equal((await answer.text()).includes(apiKey), false);
  }
});
