// Which servers the reference shows (docs/design/reference.md). Contract: section 7.2.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { call } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

test('without STAGING_URL, no page of the reference mentions a staging server', async (t) => {
  const service = await startTestService(t);
  for (const path of ['/openapi.json', '/openapi.yaml', '/reference', '/reference.md', '/llms.txt']) {
    const { text, headers } = await call(service.url, path);
    for (const found of [text, headers.get('content-security-policy') ?? ''])
      assert.doesNotMatch(found, /staging|petstore_test_|petstore\.example/i, path);
  }
  const { text } = await call(service.url, '/reference.md');
  assert.match(text, /ask the operator of the service for an API key\. It begins with `petstore_live_`/i);
});

test('with STAGING_URL the guide tells the keys of both environments apart', async (t) => {
  const service = await startTestService(t, { env: { STAGING_URL: EXAMPLE_URLS.staging } });
  const { text } = await call(service.url, '/reference.md');
  assert.ok(text.includes(`- Staging: \`${EXAMPLE_URLS.staging}\``));
  assert.match(text, /production begins with `petstore_live_`, a key of staging with `petstore_test_`/);
});
