// Contract: section 1.3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { openApi } from '../../src/description/openapi.ts';
import { referenceMarkdown } from '../../src/description/reference-markdown.ts';
import { referencePage } from '../../src/pages/reference/reference-page.ts';
import { html } from '../../src/pages/shared/html.ts';

test('text of the description is never markup of the page', () => {
  assert.equal(html`<b title="${`"'&`}">${'<i>'}</b>`, '<b title="&quot;&#39;&amp;">&lt;i&gt;</b>');
  const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
  const hostile = '</pre></noscript><script>alert("`<img>`")</script>';
  const info = { ...document.info, title: hostile, summary: hostile, description: hostile };
  const described = { ...document, info };
  const page = referencePage(
    described,
    referenceMarkdown(described),
    'reference/x/',
    EXAMPLE_URLS.production,
  );
  assert.doesNotMatch(page, /<script>|<img/);
});
