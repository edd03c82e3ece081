// The failed requests on the dashboard. Contract: section 3.13.
import assert from 'node:assert/strict';
import { call } from '../support/api.ts';
import {
  launchBrowser,
  openAccount,
  SCREENS,
  accessibilityFaults,
  sideways,
  widestTable,
} from '../support/browser.ts';
import { fakeClock } from '../support/clock.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';
import { startForFile, test } from '../support/test.ts';

const lifetime = lifetimeOfFile();
// The browser has the time of the machine.
const service = await startTestService(lifetime, { clock: fakeClock(Date.now()) });
const browser = await startForFile(() => launchBrowser(lifetime));

test('a holder sees why requests failed, the newest first, and all after a click', async () => {
  const key = await service.issueKey({ account: 'failing' });
  const { page } = await openAccount(browser, service.url, key);
  const section = page.getByRole('region', { name: 'Failed requests', exact: true });
  await section.getByText('There are none.').waitFor();
  for (let sent = 0; sent < 11; sent++) await call(service.url, '/v1/pets?limit=0', { key });
  await call(service.url, '/v1/pets/77', { key, headers: { 'x-request-id': 'newest' } });
  await page.getByRole('button', { name: 'Refresh' }).click();
  const rows = section.getByRole('row');
  await rows.nth(5).waitFor();
  assert.equal(await rows.count(), 6);
  const newest = rows.nth(1);
  for (const text of ['There is no animal with this petId.', 'GET /v1/pets/{petId}', 'not_found', 'newest'])
    await newest.getByText(text, { exact: true }).waitFor();
  await section.getByRole('button', { name: 'Show all 12' }).click();
  await rows.nth(12).waitFor();
  assert.equal(await section.getByRole('button').count(), 0);
});

for (const { device, options } of SCREENS) {
  test(`on a ${device}, the failed requests have no accessibility fault`, async () => {
    const key = await service.issueKey({ account: `failing on a ${device}` });
    await call(service.url, '/v1/nothing', { key });
    const { page } = await openAccount(browser, service.url, key, options);
    await page.getByRole('region', { name: 'The failed requests' }).waitFor();
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.ok((await sideways(page)) <= 0);
    assert.equal(await widestTable(page), 0);
  });
}
