import assert from 'node:assert/strict';
import {
  launchBrowser,
  openReference,
  seriousFaults,
  SCREENS,
  showSection,
  sideways,
} from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
const service = await startTestService(lifetime);
const browser = await startForFile(() => launchBrowser(lifetime));

for (const { device, options } of SCREENS) {
  test(`on a ${device}, the reference has no serious accessibility fault`, async () => {
    const { page, faults } = await openReference(browser, service.url, options);
    await showSection(page, '#tag/pets/GET/pets', 'List animals');
    await page.getByRole('button', { name: 'Test Request (get /pets)' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Send' }).first().click();
    await dialog.getByText('401 Unauthorized').first().waitFor();
    // The code of the answer is what lies at its place on the screen: it is in view after Send.
    await page.waitForFunction(`[...document.querySelectorAll('[role="dialog"] .cm-line span')].some((code) => {
      const { left, top } = code.getBoundingClientRect();
      return code.textContent === '"unauthorized"' && code.contains(document.elementFromPoint(left + 2, top + 2));
    })`);
    assert.deepEqual(await seriousFaults(page), []);
    assert.equal(faults.length, 1, 'the refusal alone is on the console');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await showSection(page, '#tag/backing-off', 'Backing off');
    await showSection(page, '#tag/adopt-an-animal', 'Adopt an animal');
    await showSection(page, '#tag/states-of-an-animal', 'States of an animal');
    await showSection(page, '#tag/pets/PATCH/pets/{petId}', 'Change an animal');
    await showSection(page, '#tag/store/POST/store/orders', 'Order an animal');
    await showSection(page, '#tag/pets/GET/pets/{petId}', 'Get an animal');
    await showSection(page, '#tag/pets/POST/pets', 'Add an animal');
    assert.deepEqual(await seriousFaults(page), []);
    assert.ok((await sideways(page)) <= 0, 'the page need not be scrolled sideways');
    assert.equal(faults.length, 1);
    await page.context().close();
  });
}
