// Contract: section 1.3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { doAtOnce } from '../../src/domain/parts.ts';
import { openApi } from '../../src/description/openapi.ts';
import { referenceContent } from '../../src/pages/reference/content.ts';
import { html } from '../../src/pages/shared/html.ts';

test('text of the description is never markup of the page', () => {
  assert.equal(html`<b title="${`"'&`}">${'<i>'}</b>`.text, '<b title="&quot;&#39;&amp;">&lt;i&gt;</b>');
  const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
  const hostile = '</section><script>alert("<img>")</script>';
  const info = {
    ...document.info,
    title: hostile,
    summary: hostile,
    description: `## ${hostile}\n\n${hostile}`,
  };
  const tags = document.tags.map((tag) => ({ ...tag, description: hostile }));
  const page = doAtOnce(referenceContent({ ...document, info, tags }, EXAMPLE_URLS.production, './x/')).text;
  assert.doesNotMatch(page, /<script|<img>/);
});
