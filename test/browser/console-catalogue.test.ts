// Animals, categories and orders on the console. Contract: section 10.2.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { DAY, MINUTE } from '../../src/domain/clock.ts';
import { INT64_MAX } from '../../src/domain/int64.ts';
import type { PetStatus } from '../../src/resources/pets/rules.ts';
import { get, requireValue } from '../storage/fixture.ts';
import { launchBrowser, SCREENS, accessibilityFaults, sideways } from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { startTestConsole } from '../support/console.ts';
import { loaded, showPage, visitConsole } from '../support/console-page.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { CLIENT, createAccount } from '../support/store.ts';
import { PLANS } from '../../src/domain/plan.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const service = await startTestConsole(lifetime, { clock: fakeClock(Date.now()) });
const browser = await startForFile(() => launchBrowser(lifetime));

const { accounts, audit, categories, orders, pets } = service.store;

let named = 0;
/** A name that nothing else in this file has. */
const uniqueName = (word: string) => `${word} ${++named}`;

async function addCategory(name = uniqueName('Kind')) {
  return requireValue(await categories.create(CLIENT, { name }));
}

async function addAnimal(categoryId: bigint, status?: PetStatus, name = uniqueName('Rex')) {
  return requireValue(await pets.create(CLIENT, { name, categoryId, ...(status && { status }) }));
}

/** An account that has ordered an animal. */
async function addOrder(petId: bigint, name = uniqueName('shelter')) {
  const account = await createAccount(accounts, name, 'free', PLANS.free);
  return { account, order: requireValue(await orders.create(CLIENT, account.id, { petId })) };
}

const rows = (page: Page, name: string) =>
  page.getByRole('region', { name, exact: true }).locator('tbody').getByRole('row');
const button = (place: Page | Locator, name: string) => place.getByRole('button', { name, exact: true });
/** Chooses an item of the menu of a row: `Delete category 7`. */
async function choose(page: Page, item: string): Promise<void> {
  await button(page, `Actions for ${item.slice(item.indexOf(' ') + 1)}`).click();
  await button(page, item).click();
}
const dialog = (page: Page) => page.getByRole('dialog');
const open = (page: Page, path: string, heading: string) =>
  showPage(page, `${service.consoleUrl}${path}`, heading);

/** Waits until exactly these texts are the names of the rows of a table. */
async function expectRows(page: Page, table: string, names: readonly string[]): Promise<void> {
  const headers = rows(page, table).getByRole('rowheader');
  for (let tries = 0; tries < 100; tries++) {
    if ((await headers.allInnerTexts()).join('|') === names.join('|')) return;
    await page.waitForTimeout(50);
  }
  assert.deepEqual(await headers.allInnerTexts(), names);
}

test('a viewer filters animals by category, status and id, and has no buttons', async () => {
  const { id, name } = await addCategory();
  const [sold, free] = [await addAnimal(id, 'sold'), await addAnimal(id, 'available')];
  await addAnimal(INT64_MAX, 'sold');
  const { page, faults, foreign } = await visitConsole(browser, service, { name: 'vera', role: 'viewer' });
  await open(page, '/animals', 'Animals');
  await page.getByLabel('Category').fill('no such category');
  await page.getByText('Choose a category from the list. Until then, all animals are shown.').waitFor();
  await page.getByLabel('Category').fill(name.slice(1).toUpperCase());
  await page.getByText(`Category ${id}: ${name}`).waitFor();
  await expectRows(page, 'Animals', [free.name, sold.name]);
  await page.getByLabel('Category').fill(name.toUpperCase());
  await expectRows(page, 'Animals', [free.name, sold.name]);
  await page.getByLabel('Status').selectOption('Sold');
  await expectRows(page, 'Animals', [sold.name]);
  await page.goto(page.url());
  await expectRows(page, 'Animals', [sold.name]);
  assert.equal(await page.getByLabel('Category').inputValue(), name, 'the address has the filters');
  await page.getByLabel('Id', { exact: true }).fill(String(free.id));
  await page.getByLabel('Id', { exact: true }).press('Enter');
  await page.getByText('No animal fits these filters.').waitFor();
  await open(page, `/animals?categoryId=${INT64_MAX}`, 'Animals');
  await rows(page, 'Animals').getByText(`category ${INT64_MAX}`).waitFor();
  for (const verb of ['Add animal', /^Actions/])
    assert.equal(await page.getByRole('button', { name: verb }).count(), 0);
  assert.deepEqual([faults, foreign], [[], []]);
});

test('an admin adds an animal to a category by its name or by a number, which stays exact', async () => {
  const { id, name } = await addCategory();
  const { page, faults } = await visitConsole(browser, service);
  await open(page, '/animals', 'Animals');
  for (const [text, categoryId] of [
    [name, id],
    [String(INT64_MAX), INT64_MAX],
  ] as const) {
    await button(page, 'Add animal').click();
    await dialog(page).getByLabel('Name', { exact: true }).fill('Momo');
    await dialog(page).getByLabel('Category').fill('no such category');
    await button(dialog(page), 'Add animal').click();
    assert.ok(await dialog(page).isVisible(), 'no category, no animal');
    await dialog(page).getByLabel('Category').fill(text);
    await dialog(page).getByLabel('Status').selectOption('None');
    await button(dialog(page), 'Add animal').click();
    await dialog(page).waitFor({ state: 'detached' });
    const [entry] = (await audit.list({ limit: 1 })).items;
    assert.deepEqual([entry?.actor.kind, entry?.action], ['operator', 'pets create']);
    const petId = BigInt(entry?.target.name ?? 0);
    assert.deepEqual(await get(pets, petId), { id: petId, name: 'Momo', categoryId });
    await rows(page, 'Animals').first().getByText(String(petId), { exact: true }).waitFor();
  }
  assert.deepEqual(faults, []);
});

test('an admin changes and deletes an animal, and learns why an open order forbids it', async () => {
  const { id: categoryId } = await addCategory();
  const animal = await addAnimal(categoryId, 'available');
  const { order } = await addOrder(animal.id);
  const { page } = await visitConsole(browser, service);
  await open(page, `/animals/${animal.id}`, animal.name);
  const about = page.getByRole('region', { name: 'About the animal' });
  await about.getByText('the house').waitFor();
  await about.getByText('key 1').waitFor();
  await button(page, 'Change').click();
  await dialog(page).getByLabel('Status').selectOption('Sold');
  await button(dialog(page), 'Save').click();
  await dialog(page)
    .getByRole('alert')
    .getByText(/An order of this animal is open/)
    .waitFor();
  await dialog(page).getByLabel('Status').selectOption('Pending');
  await dialog(page).getByLabel('Name', { exact: true }).fill('Maximilian');
  await button(dialog(page), 'Save').click();
  await page.getByRole('heading', { level: 1, name: 'Maximilian' }).waitFor();
  await about.getByText('operator ada').waitFor();
  await choose(page, `Cancel order ${order.id}`);
  await button(dialog(page), 'Keep order').click();
  await choose(page, `Cancel order ${order.id}`);
  await button(dialog(page), 'Cancel order').click();
  await page.getByRole('main').getByText('available', { exact: true }).waitFor();
  await rows(page, 'Orders').getByText('cancelled').waitFor();
  await button(page, 'Delete').click();
  await button(dialog(page), 'Delete').click();
  await page.getByRole('heading', { level: 1, name: 'Animals' }).waitFor();
  assert.equal(await get(pets, animal.id), undefined);
  await page.goBack();
  await page.getByText(`There is no animal ${animal.id}.`).waitFor();
  await open(page, '/audit', 'Audit log');
  const deletion = rows(page, 'Changes').filter({ hasText: 'deleted an animal' }).first();
  const target = deletion.getByRole('link', { name: `animal ${animal.id}`, exact: true });
  assert.equal(await target.getAttribute('href'), `/animals/${animal.id}`);
});

test('an admin gives an animal every field, and reads at a field what is wrong with it', async () => {
  const { id: categoryId } = await addCategory();
  const { id, name } = await addAnimal(categoryId, 'available');
  const { page } = await visitConsole(browser, service);
  await open(page, `/animals/${id}`, name);
  await button(page, 'Change').click();
  const field = (label: string) => dialog(page).getByLabel(label, { exact: true });
  for (const [label, value] of Object.entries({ Breed: 'Beagle', Color: 'Tricolor', Reference: 'A745123' }))
    await field(label).fill(value);
  await field('Sex').selectOption('Male');
  await field('Size').selectOption('Extra large');
  await field('Birth date').fill('2024-05-01');
  await field('Tags').fill('calm\nCALM\n');
  await field('Photos').fill('https://photos.example/1.jpg\nhttp://photos.example/2.jpg');
  await field('Description').fill('Fond of children.');
  await button(dialog(page), 'Save').click();
  await dialog(page).getByText('Line 2 must be an address that begins with https://.').waitFor();
  for (const [label, invalid] of Object.entries({ Tags: 'true', Photos: 'true', Breed: null }))
    assert.equal(await field(label).getAttribute('aria-invalid'), invalid, label);
  await field('Tags').fill('calm\nhouse-trained');
  await field('Photos').fill('https://photos.example/1.jpg');
  await button(dialog(page), 'Save').click();
  await dialog(page).waitFor({ state: 'detached' });
  const details = {
    description: 'Fond of children.',
    breed: 'Beagle',
    sex: 'male',
    size: 'extra_large',
    color: 'Tricolor',
    birthDate: '2024-05-01',
    photoUrls: ['https://photos.example/1.jpg'],
    tags: ['calm', 'house-trained'],
    reference: 'A745123',
  };
  assert.deepEqual(await get(pets, id), { id, name, categoryId, status: 'available', ...details });
  const about = page.getByRole('region', { name: 'About the animal' });
  for (const text of ['Beagle', 'Extra large', '2024-05-01', 'house-trained', 'Fond of children.', 'A745123'])
    await about.getByText(text, { exact: true }).waitFor();
  await button(page, 'Change').click();
  await field('Breed').fill('');
  await field('Tags').fill('');
  await button(dialog(page), 'Save').click();
  await about.getByText('Beagle').waitFor({ state: 'detached' });
  const { breed: _, tags: __, ...rest } = details;
  assert.deepEqual(await get(pets, id), { id, name, categoryId, status: 'available', ...rest });
});

test('photos are loaded after one click that names their hosts, and learn no address of the console', async () => {
  const photo = 'https://photos.example/rex.svg?size=1&of=2';
  const { id, name } = requireValue(
    await pets.create(CLIENT, { name: uniqueName('Rex'), categoryId: 1n, photoUrls: [photo] }),
  );
  const { page, faults, foreign } = await visitConsole(browser, service);
  const referrers: (string | undefined)[] = [];
  await page.context().route('https://photos.example/**', async (route) => {
    referrers.push((await route.request().allHeaders())['referer']);
    const body = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>';
    await route.fulfill({ contentType: 'image/svg+xml', body });
  });
  await open(page, `/animals/${id}`, name);
  await page.getByRole('link', { name: photo }).waitFor();
  assert.deepEqual(foreign, []);
  await button(page, 'Show the photo from photos.example').click();
  const image = page.frameLocator('iframe').getByRole('img');
  await image.waitFor();
  await image.evaluate('(image) => image.decode()');
  assert.deepEqual([foreign, referrers, faults], [[photo], [undefined], []]);
  assert.deepEqual(await accessibilityFaults(page), []);
});

test('animals are found by name and by reference, and "back" finds the place in the list', async () => {
  const { id: categoryId } = await addCategory();
  const name = uniqueName('Bello');
  const found = requireValue(await pets.create(CLIENT, { name, categoryId, reference: 'B 7' }));
  for (let count = 0; count < 120; count++) await addAnimal(categoryId);
  const { page } = await visitConsole(browser, service);
  await open(page, '/animals', 'Animals');
  for (const [label, text] of [
    ['Name', name.toUpperCase()],
    ['Reference', 'B 7'],
  ] as const) {
    const field = page.getByLabel(label, { exact: true });
    await field.fill(text);
    await field.press('Enter');
    await expectRows(page, 'Animals', [found.name]);
    await field.fill('');
    await field.press('Enter');
    await rows(page, 'Animals').nth(1).waitFor();
  }
  await open(page, `/animals?categoryId=${categoryId}`, 'Animals');
  await button(page, 'Show more').click();
  const link = page.getByRole('link', { name, exact: true });
  await link.click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await page.goBack();
  await link.waitFor();
  await page.waitForFunction('scrollY > 1000');
  assert.equal(await rows(page, 'Animals').count(), 121);
});

test('an admin adds, renames and deletes a category, and learns why it is refused', async () => {
  const taken = await addCategory();
  const { page } = await visitConsole(browser, service);
  await open(page, '/categories', 'Categories');
  await button(page, 'Add category').click();
  await dialog(page).getByLabel('Name', { exact: true }).fill(taken.name.toUpperCase());
  await button(dialog(page), 'Add category').click();
  await dialog(page)
    .getByText(/Another category has this name/)
    .waitFor();
  await dialog(page).getByLabel('Name', { exact: true }).fill('Lamas');
  await dialog(page).getByLabel('Description').fill('From the Andes.');
  await button(dialog(page), 'Add category').click();
  const { id } = await rows(page, 'Categories')
    .getByText('Lamas')
    .waitFor()
    .then(async () => requireValue(await categories.find('Lamas')));
  await choose(page, `Change category ${id}`);
  await dialog(page).getByLabel('Name', { exact: true }).fill('Llamas');
  await dialog(page).getByLabel('Description').fill('');
  await button(dialog(page), 'Save').click();
  await rows(page, 'Categories').getByText('Llamas').waitFor();
  assert.deepEqual(await categories.get(id), { value: { id, name: 'Llamas' } });
  await rows(page, 'Categories').getByRole('link', { name: 'Llamas' }).click();
  await page.waitForURL(`**/animals?categoryId=${id}`);
  const animal = await addAnimal(id);
  await open(page, '/categories', 'Categories');
  await choose(page, `Delete category ${id}`);
  await button(dialog(page), 'Delete').click();
  await dialog(page)
    .getByText(/An animal is of this category/)
    .waitFor();
  await pets.delete(CLIENT, animal.id);
  await button(dialog(page), 'Delete').click();
  await dialog(page).waitFor({ state: 'detached' });
  await rows(page, 'Categories').getByText('Llamas').waitFor({ state: 'detached' });
  assert.deepEqual(await categories.get(id), { error: 'not_found' });
});

test('orders are found by status, account and animal, and an admin completes one', async () => {
  const { id: categoryId } = await addCategory();
  const [first, second] = [
    await addAnimal(categoryId, 'available'),
    await addAnimal(categoryId, 'available'),
  ];
  const made = await addOrder(first.id);
  const other = await addOrder(second.id);
  await orders.cancel(CLIENT, other.order.id, { accountId: other.account.id });
  const again = requireValue(await orders.create(CLIENT, made.account.id, { petId: second.id }));
  const { page, faults } = await visitConsole(browser, service);
  await open(page, `/orders?petId=${second.id}`, 'Orders');
  await expectRows(page, 'Orders', [String(again.id), String(other.order.id)]);
  await page.getByLabel('Status').selectOption('Cancelled');
  await expectRows(page, 'Orders', [String(other.order.id)]);
  assert.equal(await button(page, `Actions for order ${other.order.id}`).count(), 0);
  await open(page, `/accounts/${made.account.id}`, made.account.name);
  await page.getByRole('main').getByRole('link', { name: 'Orders', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  await expectRows(page, 'Orders', [String(again.id), String(made.order.id)]);
  await choose(page, `Complete order ${made.order.id}`);
  await button(dialog(page), 'Complete order').click();
  await page.getByRole('status').getByText(`Order ${made.order.id} is complete.`).waitFor();
  await rows(page, 'Orders').getByText('complete', { exact: true }).waitFor();
  assert.equal((await get(pets, first.id))?.status, 'sold');
  await rows(page, 'Orders').getByRole('link', { name: first.name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: first.name }).waitFor();
  assert.deepEqual(faults, []);
});

test('a viewer sees the orders of an animal, and cannot end one', async () => {
  const animal = await addAnimal(1n, 'available');
  const { account, order } = await addOrder(animal.id);
  const { page } = await visitConsole(browser, service, { name: 'vera', role: 'viewer' });
  await open(page, `/animals/${animal.id}`, animal.name);
  await rows(page, 'Orders').getByRole('link', { name: account.name }).waitFor();
  assert.equal(await page.getByRole('main').getByRole('button').count(), 0);
  await open(page, '/orders', 'Orders');
  await rows(page, 'Orders').getByText(String(order.id), { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Actions/ }).count(), 0);
});

for (const { device, options } of SCREENS) {
  test(`on a ${device}, an animal and the dialogs of the catalogue have no accessibility fault`, async () => {
    const animal = await addAnimal((await addCategory()).id, 'available');
    await addOrder(animal.id);
    const { page, faults } = await visitConsole(browser, service, { options });
    for (const [path, heading, opener] of [
      [`/animals/${animal.id}`, animal.name, 'Change'],
      ['/animals', 'Animals', 'Add animal'],
      ['/categories', 'Categories', 'Add category'],
    ] as const) {
      await open(page, path, heading);
      await loaded(page);
      assert.deepEqual(await accessibilityFaults(page), [], path);
      assert.ok((await sideways(page)) <= 0, `${path} need not be scrolled sideways`);
      await button(page, opener).click();
      await dialog(page).waitFor();
      assert.deepEqual(await accessibilityFaults(page), [], opener);
    }
    assert.deepEqual(faults, []);
  });
}

test('the overview begins with animals, and each figure leads to its list', async () => {
  const { id } = await addCategory();
  const { account, order } = await addOrder((await addAnimal(id, 'available')).id);
  await orders.complete(CLIENT, order.id, { accountId: account.id });
  // Two held animals and three that are available, so that each figure is another one.
  for (let held = 0; held < 2; held++) await addOrder((await addAnimal(id, 'available')).id);
  for (let free = 0; free < 3; free++) await addAnimal(id, 'available');
  // Longer than counts are served again.
  await service.passTime(2 * MINUTE);
  const { page } = await visitConsole(browser, service, { role: 'viewer' });
  await open(page, '/', 'Overview');
  const figures = page.getByRole('region', { name: 'Animals', exact: true }).locator('dl > div');
  await figures.first().waitFor();
  const shown = await figures.evaluateAll((found) =>
    found.map((row) => [
      row.querySelector('dt')?.textContent,
      row.querySelector('a')?.getAttribute('href'),
      row.querySelector('dd')?.textContent,
    ]),
  );
  const { available, pending } = await pets.countByStatus();
  assert.deepEqual(shown, [
    ['Available', '/animals?status=available', `${available}`],
    ['Held', '/animals?status=pending', `${pending}`],
    ['Orders that end within a day', '/orders?status=pending', `${await orders.countEnding(DAY)}`],
    ['Adopted in the last seven days', '/orders?status=complete', `${await orders.countCompleted(7 * DAY)}`],
  ]);
});
