// Contract: section 1.3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { doAtOnce } from '../../src/domain/parts.ts';
import { openApi } from '../../src/description/openapi.ts';
import { referenceContent } from '../../src/pages/reference/content.ts';
import { WORDS } from '../../src/pages/reference/search-words.js';
import { html } from '../../src/pages/shared/html.ts';

const { document: whole } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
const reference = doAtOnce(referenceContent(whole, EXAMPLE_URLS.production, './x/')).text;
const operations = Object.values(whole.paths).flatMap((item) => Object.values(item));

/** The HTML of a section. */
function section(id: string): string {
  const [, text = ''] =
    new RegExp(`<section class="[^"]+" id="${id}"([^]*?)</section>`).exec(reference) ?? [];
  assert.notEqual(text, '', id);
  return text;
}

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

test('an operation has its parameters and its body before the headers, then its answers and errors', () => {
  const order = ['Parameters', 'Body', 'Headers', 'Answers', 'Errors'];
  for (const { operationId, requestBody } of operations) {
    const headings = [...section(operationId).matchAll(/<h3>(\w+)<\/h3>/g)].map(
      ([, heading = '']) => heading,
    );
    assert.deepEqual(
      headings,
      order.filter((heading) => headings.includes(heading)),
    );
    assert.equal(headings.includes('Body'), requestBody !== undefined, operationId);
  }
});

test('what every operation has in common is one line, which links what explains it', () => {
  for (const { operationId } of operations) {
    const [line = '', ...others] = section(operationId).match(/<p class="common">.*<\/p>/g) ?? [];
    assert.deepEqual(others, [], operationId);
    for (const code of [
      'unauthorized',
      'rate_limit_exceeded',
      'daily_limit_exceeded',
      'internal_error',
      'unavailable',
    ])
      assert.equal(
        section(operationId).split(`<a href="#errors"><code>${code}</code>`).length,
        2,
        `${operationId} ${code}`,
      );
    assert.match(line, /401<\/strong>.*500<\/strong>.*<a href="#errors">Errors<\/a>/);
    assert.doesNotMatch(section(operationId), /<dt><code>X-Request-Id<|X-RateLimit/, operationId);
  }
  for (const header of ['X-Request-Id', 'X-RateLimit-Limit', 'Idempotency-Key', 'If-Match', 'Link'])
    assert.ok(section('headers').includes(`<code>${header}</code>`), header);
});

test('an error that says more than elsewhere is in the list of its operation', () => {
  assert.match(section('updatePet'), /<li><strong>403<\/strong>.*not of the account of the API key/);
  assert.doesNotMatch(section('listPets'), /<li><strong>403/);
});

test('the attributes of an answer, and the values of each enumeration, stand in the operation', () => {
  const attributes = (id: string) => section(id).split('class="attributes"').slice(1).join('');
  const values = '<code>available</code>, <code>pending</code>, <code>sold</code>';
  for (const id of ['listPets', 'createPet', 'getPet', 'updatePet'])
    assert.match(attributes(id), new RegExp(`<code>status</code>[^]*?one of ${values}`), id);
  assert.match(attributes('getAccount'), /<code>minute<\/code>[^]*?<code>remaining<\/code>/);
  assert.match(attributes('listKeys'), /<code>scopes<\/code>[^]*?<code>webhooks:manage<\/code>/);
  for (const id of ['listPets', 'createPet', 'updatePet'])
    assert.ok((section(id).split('class="attributes"')[0] ?? '').includes(`one of ${values}`), id);
  for (const { operationId, responses } of operations) {
    const success = Object.entries(responses).find(([status]) => status < '300');
    const hasContent = success?.[1].content !== undefined;
    assert.equal(section(operationId).includes('class="attributes"'), hasContent, operationId);
  }
});

test('the page shows no expressions', () => {
  const shown = reference.replaceAll(/<pre[^]*?<\/pre>/g, '');
  const patterns = [...JSON.stringify(whole).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
    ([, text = '']) => JSON.parse(text) as string,
  );
  assert.ok(patterns.length > 20);
  for (const pattern of new Set(patterns)) assert.ok(!shown.includes(html`${pattern}`.text), pattern);
});

test('a group whose operations are all beta has the badge, and its operations have none', () => {
  const badge = '<a class="badge" href="#beta-and-experimental">beta</a>';
  assert.match(reference, new RegExp(`<h2 id="group-store">Store ${badge}</h2>`));
  assert.match(reference, /<h2 id="group-pets">Pets<\/h2>/);
  const marked = operations.filter(({ operationId }) => section(operationId).includes(badge));
  assert.deepEqual(
    marked.map(({ operationId }) => operationId),
    ['updatePet', 'deletePet'],
  );
});

test('links and pictures stay under the name by which the page was opened', () => {
  const site = new URL('../', `${EXAMPLE_URLS.production}/`).href;
  const targets = [...reference.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
  assert.deepEqual(
    targets.filter((target) => target.startsWith(site)),
    [],
  );
});

test('the words of the search lead to parts of the page', () => {
  for (const id of Object.keys(WORDS)) assert.ok(reference.includes(` id="${id}"`), id);
});

test('no sample throws the message of an error away', () => {
  const samples = reference.replaceAll(/<\/?span[^>]*>/g, '');
  assert.doesNotMatch(samples, /EnsureSuccessStatusCode|curl [^\n]*(?:-\w*f\b|--fail )/);
  for (const [sample] of samples.matchAll(/<pre tabindex="0"><code>[^]*?<\/code>/g))
    if (sample.includes('urlopen(')) assert.match(sample, /error\.read\(\)/);
});
