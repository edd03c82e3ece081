import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { createReference, referenceFiles } from '../../src/pages/reference/reference.ts';

test('the page works as soon as its files can be read again', async () => {
  let reads = 0;
  const reference = createReference(EXAMPLE_URLS, EXAMPLE_URLS.production, async () => {
    if (reads++ === 0) throw new Error('EMFILE: too many open files');
    return referenceFiles();
  });
  await assert.rejects(reference.page.respond({ headers: {} }), /EMFILE/);
  const { status, body } = await reference.page.respond({ headers: {} });
  assert.equal(status, 200);
  const [, start = ''] = /src="([^"]+)"/.exec(String(body)) ?? [];
  assert.ok(await reference.file(start));
  assert.equal(reads, 2, 'what was found is kept');
});
