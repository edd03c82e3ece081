import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchFresh, serviceTime } from '../../src/pages/shared/fetch.js';
import { test } from '../support/test.ts';

test('the time of pages is that of the service, and not a second behind where the clocks agree', async (t) => {
  let ahead = 0;
  const server = createServer((_request, response) => {
    response.setHeader('Date', new Date(Date.now() + ahead).toUTCString()).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  /** Milliseconds by which pages are ahead of this machine after an answer. */
  const difference = async () => {
    await fetchFresh(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return serviceTime().getTime() - Date.now();
  };
  assert.ok(Math.abs(await difference()) < 5);
  ahead = 60_000;
  assert.ok(Math.abs((await difference()) - ahead) <= 1_000);
  ahead = -60_000;
  assert.ok(Math.abs((await difference()) - ahead) <= 1_000);
});
