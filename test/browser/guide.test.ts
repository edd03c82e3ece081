// The guide for users of the API, as a page of the reference shows it.
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { launchBrowser, openReference, showSection } from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const lifetime = lifetimeOfFile();
const shared = await startTestService(lifetime);
const browser = await startForFile(() => launchBrowser(lifetime));
// The tests share a page for each device, because a load of the reference takes seconds of a processor.
const desktop = await startForFile(() => openReference(browser, shared.url, { viewport: DESKTOP }));
const phone = await startForFile(() => openReference(browser, shared.url, { viewport: PHONE }));

async function boxOf(element: Locator) {
  return (await element.boundingBox()) ?? assert.fail('The element is not shown.');
}

// The first test of its page: the reference may still scroll to what an earlier test has shown.
test('the sidebar follows the reader through the pages of the guide', async () => {
  const { page } = desktop;
  await showSection(page, '#tag/rate-limits', 'Rate limits');
  await page.mouse.move(600, 400);
  for (const name of ['Backing off', 'Errors', 'Paging', 'Idempotency']) {
    const current = page.getByRole('complementary').locator('[aria-current="page"]', { hasText: name });
    for (let turns = 0; (await current.count()) === 0; turns++) {
      assert.ok(turns < 20, `${name} is the current page of the sidebar`);
      await page.mouse.wheel(0, 300);
      // The browser observes what is in view once a frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))');
    }
  }
});

for (const [device, { page }] of Object.entries({ desktop, phone })) {
  test(`on a ${device}, at most one screen of prose comes before the first endpoint`, async () => {
    const { height } = await boxOf(page.locator('.introduction-description'));
    assert.ok(height <= (page.viewportSize()?.height ?? 0), `${height} pixels`);
  });
}

test('a page of the guide has samples beside its prose, in the language last chosen', async () => {
  const { page } = desktop;
  for (const [slug, heading, code] of [
    ['backing-off', 'Backing off', 'time.sleep(wait)'],
    ['paging', 'Paging', 'address = following and following[1]'],
    ['adopt-an-animal', 'Adopt an animal', 'send("POST", "/store/orders", {"petId": pet["id"]})'],
    ['idempotency', 'Idempotency', '"Idempotency-Key": "intake-2026-11-21-row-17",'],
  ] as const) {
    await showSection(page, `#tag/${slug}`, heading);
    const section = page.getByRole('region', { name: heading });
    const language = section.getByRole('combobox', { name: 'Language of the code samples' });
    if (slug === 'backing-off') await language.selectOption({ label: 'Python' });
    await section.getByText(code).waitFor();
    assert.equal(await section.getByText('curl --fail').isVisible(), false);
    const prose = await boxOf(section.getByRole('paragraph').first());
    assert.ok((await boxOf(language)).x > prose.x + prose.width, 'the samples are in the right column');
  }
});

test('the guide shows pictures of windows, a ban and the states, from this service', async () => {
  const { page, faults, foreign } = phone;
  for (const [path, heading, file] of [
    ['#tag/rate-limits', 'Rate limits', 'windows.svg'],
    ['#tag/backing-off', 'Backing off', 'ban.svg'],
    ['#tag/states-of-an-animal', 'States of an animal', 'states.svg'],
  ] as const) {
    await showSection(page, path, heading);
    const picture = page.getByRole('region', { name: heading }).getByRole('img');
    await picture.scrollIntoViewIfNeeded();
    await page.waitForFunction(`document.querySelector('img[src$="/${file}"]')?.naturalWidth === 410`);
    assert.ok(((await picture.getAttribute('alt')) ?? '').length > 50);
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(foreign, []);
});

test('updatePet and createOrder lead to the states of an animal', async () => {
  const { page } = desktop;
  for (const [path, summary, link, hash] of [
    ['#tag/pets/PATCH/pets/{petId}', 'Change an animal', 'States of an animal', '#tag/states-of-an-animal'],
    ['#tag/store/POST/store/orders', 'Order an animal', 'Adopt an animal', '#tag/adopt-an-animal'],
  ] as const) {
    await showSection(page, path, summary);
    await page.getByRole('region', { name: summary }).getByRole('link', { name: link }).click();
    await page.waitForFunction(`location.hash === '${hash}'`);
    await page.getByRole('heading', { name: link }).first().waitFor();
    assert.equal(new URL(page.url()).origin, shared.url);
  }
  assert.equal(page.context().pages().length, 1, 'a link of the guide opens no tab');
});

test('what the chips of a parameter show stays on the screen of a phone', async () => {
  const { page } = phone;
  await showSection(page, '#tag/pets/GET/pets', 'List animals');
  const section = page.getByRole('region', { name: 'List animals' });
  const chips = section.getByRole('button', { name: /^(?:Default|Examples?|Pattern)$/ });
  await chips.last().waitFor();
  const shown = page.locator(
    ':is(.property-default-value-list, .property-example-value-list, .property-pattern-popup):visible',
  );
  for (const chip of await chips.all()) {
    await chip.click();
    const { x, width } = await boxOf(shown.last());
    assert.ok(x >= 0 && x + width <= PHONE.width, `from ${x} to ${x + width}`);
    await page.keyboard.press('Escape');
  }
});

test('search finds the text of the guide: "retry" leads to Backing off', async () => {
  const { page } = desktop;
  await page.getByRole('button', { name: 'Open Search' }).first().click();
  await page.getByRole('combobox', { name: 'Enter search query' }).fill('retry');
  await page.getByRole('option', { name: /Backing off/ }).click();
  await page.waitForFunction("location.hash === '#tag/backing-off'");
  await page.getByText('Wait that many seconds, then retry.').waitFor();
});

test('Enter opens the first result of a search', async () => {
  const { page } = desktop;
  await page.getByRole('button', { name: 'Open Search' }).first().click();
  await page.getByRole('combobox', { name: 'Enter search query' }).fill('paging');
  await page.getByRole('option').first().getByText('Paging').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForFunction("location.hash === '#tag/paging'");
});

test('an address of a page of the guide from version 1.0.0 still leads to it', async () => {
  const { page } = desktop;
  await page.goto(`${shared.url}/llms.txt`);
  await page.goto(`${shared.url}/reference#description/backing-off`);
  await page.waitForFunction("location.hash === '#tag/backing-off'");
  await page.getByText('Wait that many seconds, then retry.').waitFor();
});
