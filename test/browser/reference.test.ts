// Contract: sections 1, 6 and 9.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { launchBrowser, openPage, openReference, SCREENS, sideways } from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const shared = await startTestService(lifetime, {
  env: { PETSTORE_ENVIRONMENT: 'staging', PRODUCTION_URL: EXAMPLE_URLS.production },
});
const browser = await startForFile(() => launchBrowser(lifetime));

/** Whether an element is inside of the window. */
const isInView = (selector: string) => `(() => {
  const { top, bottom } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
  return top >= -1 && top < innerHeight && bottom > 0;
})()`;

/** Looks at each frame, because the policy of the page lets no string be evaluated later. */
const until = (page: Page, expression: string) =>
  page.evaluate(`new Promise((resolve) => {
    const look = () => (${expression} ? resolve() : requestAnimationFrame(look));
    look();
  })`);

test('without JavaScript the reference has every operation with its samples and errors, and its code on the first screen', async () => {
  const { page } = await openPage(browser, shared.url, { javaScriptEnabled: false, ...SCREENS[0].options });
  await page.goto(`${shared.url}/reference`);
  for (const { id, summary } of OPERATIONS) {
    const section = page.locator(`section#${id}`);
    assert.equal(await section.getByRole('heading', { level: 2 }).innerText(), summary);
    const languages = section.locator('.samples.code label');
    assert.deepEqual(await languages.allTextContents(), [
      'curl',
      'TypeScript',
      'Python',
      'Go',
      'PHP',
      'Ruby',
      'Java',
      'C#',
    ]);
    for (const code of ['unauthorized', 'rate_limit_exceeded', 'internal_error'])
      assert.ok(await section.getByRole('link', { name: code, exact: true }).count(), `${id} ${code}`);
  }
  await page.locator('#quick-start').getByText('TypeScript').click();
  const code = page.locator('#quick-start pre:visible');
  assert.match(await code.innerText(), /new PetStore/);
  const { y = Number.NaN } = (await code.boundingBox()) ?? {};
  assert.ok(y < SCREENS[0].options.viewport.height);
  await page.context().close();
});

for (const { device, options } of SCREENS)
  test(`on a ${device}, the reference loads from this service alone, and nothing is cut off`, async () => {
    const { page, foreign, faults } = await openReference(browser, shared.url, options);
    assert.ok((await sideways(page)) <= 0);
    const cut = await page.evaluate(`[...document.querySelectorAll('pre, .address, .fields')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).map(({ textContent }) => textContent)`);
    assert.deepEqual(cut, []);
    const origins = await page.evaluate<string[]>('Array.from(document.links, ({ origin }) => origin)');
    assert.deepEqual([...new Set(origins)], [shared.url]);
    await page.waitForLoadState('networkidle');
    assert.deepEqual([foreign, faults], [[], []]);
    await page.context().close();
  });

test('an address leads to its section, and the contents show where the reader is', async () => {
  const { page } = await openReference(browser, shared.url, SCREENS[0].options);
  for (const [address, id] of [
    ['#createOrder', 'createOrder'],
    ['#rate-limits', 'rate-limits'],
    ['#Webhook.types', 'Webhook'],
    // Addresses of the page before this one.
    ['#tag/pets/PATCH/pets/{petId}', 'updatePet'],
    ['#tag/errors', 'errors'],
    ['#description/backing-off', 'backing-off'],
  ] as const) {
    await page.goto(`${shared.url}/llms.txt`);
    await page.goto(`${shared.url}/reference${address}`);
    await page.locator(`.contents a[href="#${id}"][aria-current]`).waitFor();
    await until(page, isInView(`.contents a[href="#${id}"]`));
    if (!address.includes('.')) await until(page, isInView(`#${id} h2`));
  }
  await page.context().close();
});

for (const { device, options } of SCREENS)
  test(`on a ${device}, a link leads exactly to its section, and the contents mark this one`, async () => {
    const { page } = await openReference(browser, shared.url, options);
    const ids = ['createOrder', 'Pet', 'errors', 'Pet', 'createWebhook', 'quick-start'];
    const last = await page.locator('section[id]').last().getAttribute('id');
    for (const [visit, id] of [...ids, last ?? ''].entries()) {
      if (visit < 2) {
        await page.goto(`${shared.url}/llms.txt`);
        await page.goto(`${shared.url}/reference#${id}`);
      } else await page.evaluate(`document.querySelector('.contents a[href="#${id}"]').click()`);
      await page.locator(`.contents a[href="#${id}"][aria-current]`).waitFor({ state: 'attached' });
      await until(
        page,
        `(() => {
        const { top } = document.getElementById('${id}').getBoundingClientRect();
        const padding = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
        const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
        return Math.abs(top - padding) <= 2 || (isAtEnd && top > 0 && top < innerHeight);
      })()`,
      );
    }
    for (const name of ['Search', 'Dashboard'])
      await page.locator('.top').getByText(name).and(page.locator(':visible')).click({ trial: true });
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('.contents a[href="#introduction"][aria-current]').waitFor({ state: 'attached' });
    await page.context().close();
  });

test('an address that is typed on the open page leads to its section on a phone', async () => {
  const { page } = await openReference(browser, shared.url, { ...SCREENS[1].options, isMobile: true });
  for (const id of ['getWebhook', 'createPet', 'Order.shipDate']) {
    await page.evaluate(`location.hash = '#${id}'`);
    await until(
      page,
      `(() => {
        const { top } = document.getElementById('${id}').getBoundingClientRect();
        return Math.abs(top - Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop)) <= 2;
      })()`,
    );
  }
  await page.context().close();
});

test('the button that copies a sample is always seen, and covers no code', async () => {
  for (const { options } of SCREENS) {
    const { page } = await openReference(browser, shared.url, options);
    await page.mouse.move(0, 0);
    const copy = page.locator('#listPets .samples.code .copy:visible');
    const opacity =
      'getComputedStyle(document.querySelector("#listPets label:has(:checked) + pre + .copy")).opacity';
    assert.equal(await page.evaluate(opacity), '1');
    const [button, code] = [
      await copy.boundingBox(),
      await page.locator('#listPets pre:visible').first().boundingBox(),
    ];
    assert.ok(button && code && button.y + button.height <= code.y + 1);
    await page.context().close();
  }
});

test('on a phone, a sample stands below the sentence that leads to it', async () => {
  const { page } = await openReference(browser, shared.url, SCREENS[1].options);
  const tops = await page.evaluate<number[]>(
    `['.prose', '.aside', '.aside + .prose'].map((part) =>
      document.querySelector('#receive-webhooks .pair > ' + part).getBoundingClientRect().top)`,
  );
  assert.deepEqual(
    tops,
    tops.toSorted((one, other) => one - other),
  );
  assert.equal(new Set(tops).size, 3);
  await page.context().close();
});

test('the dashboard has the name of the service where the reference has it', async () => {
  const { page } = await openReference(browser, shared.url, { viewport: { width: 1600, height: 900 } });
  const place = () => page.locator('.brand').boundingBox();
  const before = await place();
  await page.locator('.top').getByRole('link', { name: 'Dashboard' }).click();
  await page.getByLabel('API key').waitFor();
  assert.deepEqual(await place(), before);
  await page.context().close();
});

test('search finds operations, the guide, fields and error codes by the keyboard alone, and marks what it found', async () => {
  const { page } = await openReference(browser, shared.url, SCREENS[0].options);
  for (const [query, title, id] of [
    ['complete order', 'Complete an order', 'completeOrder'],
    ['/pets/{petId} PATCH', 'Change an animal', 'updatePet'],
    ['backing off', 'Backing off', 'backing-off'],
    ['shipdate', 'Order.shipDate', 'Order.shipDate'],
    ['idempotency_key_reused', 'idempotency_key_reused', 'errors'],
  ] as const) {
    await page.keyboard.press('/');
    await page.keyboard.type(query);
    const hit = page.locator('#hits a', { hasText: title }).and(page.locator(`[href="#${id}"]`));
    await hit.first().waitFor();
    assert.ok(await hit.first().locator('mark').count(), query);
    await hit.first().focus();
    await page.keyboard.press('Enter');
    await until(page, `location.hash === '#${id}'`);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  }
  await page.keyboard.press('Control+k');
  await page.keyboard.type('zebrafish');
  await page.getByText('Nothing has all of these words: zebrafish').waitFor();
  await page.context().close();
});

test('search gives first what explains a word, and leads the focus to its section', async () => {
  const { page } = await openReference(browser, shared.url, SCREENS[0].options);
  for (const [query, kind, title, id] of [
    ['429', 'Error', '429 ', 'errors'],
    ['limit', 'Guide', 'Rate limits', 'rate-limits'],
    ['webhook', 'Guide', 'Receive webhooks', 'receive-webhooks'],
  ] as const) {
    await page.keyboard.press('/');
    await page.keyboard.type(query);
    const hit = page.locator('#hits a').first();
    await hit.locator('small').getByText(kind).waitFor();
    assert.ok((await hit.locator('strong').innerText()).startsWith(title), query);
    await page.keyboard.press('Enter');
    await until(page, `document.activeElement === document.querySelector('#${id} > h2 > a')`);
  }
  await page.context().close();
});

test('search knows the words that people use, and shows nothing similar beside what has the word', async () => {
  const { page } = await openReference(browser, shared.url, SCREENS[0].options);
  await page.keyboard.press('/');
  const input = page.getByLabel('Search the reference');
  for (const [query, id] of [
    ['pagination', 'paging'],
    ['photo', 'Pet.photoUrls'],
    ['auth', 'authentication'],
    ['quota', 'rate-limits'],
    ['throttling', 'rate-limits'],
    ['gender', 'Pet.sex'],
    ['callback', 'receive-webhooks'],
  ] as const) {
    await input.fill(query);
    await page.locator(`#hits a[href="#${id}"]`).first().waitFor();
  }
  await input.fill('gone');
  await page.locator('#hits a', { hasText: '410 gone' }).first().waitFor();
  for (const hit of await page.locator('#hits a').allInnerTexts()) assert.match(hit, /gone/i);
  await input.fill('shipdaet');
  await page.locator('#hits a', { hasText: 'Order.shipDate' }).first().waitFor();
  await page.context().close();
});

test('a language is chosen for all samples, and stays chosen', async () => {
  const { page } = await openReference(browser, shared.url);
  const shown = page.locator('#deletePet .samples.code pre:visible');
  await page.locator('#listPets').getByText('Ruby', { exact: true }).click();
  for (let visit = 0; visit < 2; visit += 1) {
    await page.locator('#deletePet').scrollIntoViewIfNeeded();
    await shown.getByText('Net::HTTP::Delete').waitFor();
    await page.reload();
  }
  await page.context().close();
});

test('the colours can be switched, and stay so', async () => {
  const { page } = await openReference(browser, shared.url, { colorScheme: 'light' });
  const readScheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme');
  await page.getByRole('button', { name: 'Dark' }).click();
  assert.equal(await readScheme(), 'dark');
  await page.reload();
  assert.equal(await readScheme(), 'dark');
  await page.getByRole('button', { name: 'Light' }).click();
  assert.equal(await readScheme(), 'light dark');
  await page.context().close();
});
