import assert from 'node:assert/strict';
import { launchBrowser, openReference, accessibilityFaults, SCREENS, sideways } from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const service = await startTestService(lifetime);
const browser = await startForFile(() => launchBrowser(lifetime));

for (const { device, options } of SCREENS) {
  test(`on a ${device}, the reference has no accessibility fault`, async () => {
    const { page, faults } = await openReference(browser, service.url, options);
    const form = page.locator('#listPets form');
    await page.locator('#listPets').getByText('Try it').click();
    await form.getByLabel('API key').fill('petstore_live_wrong');
    await form.getByRole('button', { name: /^Send/ }).click();
    await form.getByText('"unauthorized"').waitFor();
    assert.equal(faults.length, 1, 'the refusal alone is on the console');
    assert.deepEqual(await accessibilityFaults(page), []);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('animal');
    await page.locator('#hits a').first().waitFor();
    assert.deepEqual(await accessibilityFaults(page, 'dialog'), []);
    assert.ok((await sideways(page)) <= 0, 'the page need not be scrolled sideways');
    assert.equal(faults.length, 1);
    await page.context().close();
  });
}
