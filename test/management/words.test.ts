import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminOpenApi } from '../../src/description/admin-openapi.ts';
import { run } from '../support/process.ts';

/** An issue is what is wrong with a value. */
const ISSUED = /\bissu(?:es?|ing)\b[^.;:`]{0,30}\b(?:key|token)s?\b|\b(?:was|were|has|just) issued\b/i;

test('descriptions, help, pages and documents call a new key or token created', async () => {
  const texts = new Map([['admin API', JSON.stringify(adminOpenApi())]]);
  texts.set('commands', (await run(['completion', 'fish'], {})).stdout);
  const folders = ['docs', 'docs/contract', 'docs/design', 'src/pages/console', 'src/pages/dashboard'];
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  for (const file of ['openapi.json', 'README.md', 'client/README.md', ...files])
    if (/\.(?:json|md|js)$/.test(file)) texts.set(file, readFileSync(file, 'utf8'));
  for (const [place, text] of texts) assert.doesNotMatch(text, ISSUED, place);
});
