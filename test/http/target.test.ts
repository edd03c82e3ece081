// Which hosts and paths a request may name. Contract: section 4.3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, call, parseRaw, raw } from '../support/api.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService(lifetimeOfFile());

for (const host of ['a b', 'a/b', 'user@a', 'a:b', '[::1', 'é']) {
  test(`the Host ${JSON.stringify(host)} is 400`, async () => {
    const bytes = Buffer.from(
      `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      'latin1',
    );
    assertError(parseRaw(await raw(service.url, bytes)), 'invalid_request');
  });
}

for (const host of ['', 'a.example', 'a.example:8080', '127.0.0.1:1', '[::1]:80', 'x_y', 'a%20b']) {
  test(`the Host ${JSON.stringify(host)} is valid`, async () => {
    const text = await raw(
      service.url,
      `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  });
}

test('an encoded slash belongs to its segment of the path', async () => {
  const key = await service.issueKey();
  for (const path of ['/v1%2Fpets', '/v1%2fpets', '/v1/pets%2F1', '/%2E%2Fv1/pets'])
    assertError(await call(service.url, path, { key }), 'not_found');
  assert.equal((await call(service.url, '/v1/%70ets', { key })).status, 200);
});
