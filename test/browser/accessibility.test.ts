import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { launchBrowser, openReference, showSection } from '../support/browser.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';

const AXE = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** What axe-core finds that keeps people out, by rule, with the elements. */
async function seriousFaults(page: Page): Promise<string[]> {
  // What fades in has the colours of neither state until it is there.
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>(
    'axe.run(document, { resultTypes: ["violations"] })',
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')} ${failureSummary}`),
    );
}

const lifetime = lifetimeOfFile();
const service = await startTestService(lifetime);
const browser = await launchBrowser(lifetime);

for (const [device, viewport] of [
  ['desktop', { width: 1280, height: 900 }],
  ['phone', { width: 390, height: 844 }],
] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`the reference has no serious accessibility fault on a ${device}, ${colorScheme}`, async () => {
      const options = { viewport, colorScheme };
      const { page, faults } = await openReference(browser, service.url, options);
      await showSection(page, '#tag/backing-off', 'Backing off');
      await showSection(page, '#tag/adopt-an-animal', 'Adopt an animal');
      await showSection(page, '#tag/states-of-an-animal', 'States of an animal');
      await showSection(page, '#tag/pets/PATCH/pets/{petId}', 'Change an animal');
      await showSection(page, '#tag/store/POST/store/orders', 'Order an animal');
      await showSection(page, '#tag/pets/GET/pets/{petId}', 'Get an animal');
      await showSection(page, '#tag/pets/POST/pets', 'Add an animal');
      await showSection(page, '#tag/pets/GET/pets', 'List animals');
      assert.deepEqual(await seriousFaults(page), []);
      const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(Number(sideways) <= 0, 'the page need not be scrolled sideways');

      await page.getByRole('button', { name: 'Test Request (get /pets)' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Send' }).first().click();
      await dialog.getByText('401 Unauthorized').first().waitFor();
      assert.deepEqual(await seriousFaults(page), []);
      assert.equal(faults.length, 1, 'the refusal alone is on the console');
    });
  }
}
