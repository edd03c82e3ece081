import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { parse } from 'yaml';
import { EXAMPLE_URLS } from '../../src/config.ts';
import { html } from '../../src/http/html.ts';
import { openApi } from '../../src/http/openapi.ts';
import { referencePage } from '../../src/http/reference.ts';
import { assertError, call } from '../support/api.ts';
import { startTestService } from '../support/service.ts';

const PAGES = ['/', '/reference', '/openapi.json', '/openapi.yaml', '/.well-known/api-catalog'];

test('decisions §1: /openapi.json and /openapi.yaml describe the running environment at its own address', async (t) => {
  const service = await startTestService(t, { env: { PETSTORE_ENVIRONMENT: 'staging' } });
  const json = await call(service.url, '/openapi.json');
  assert.equal(json.status, 200);
  assert.equal(json.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(
    json.json.servers.map((server: { url: string }) => server.url),
    [EXAMPLE_URLS.production, `${service.url}/v1`],
  );
  const yaml = await call(service.url, '/openapi.yaml');
  assert.equal(yaml.status, 200);
  assert.match(yaml.headers.get('content-type') ?? '', /^application\/yaml/);
  assert.deepEqual(parse(yaml.text), json.json);
});

test('decisions §1: /.well-known/api-catalog links to the reference and the description, which are there', async (t) => {
  const service = await startTestService(t);
  const answer = await call(service.url, '/.well-known/api-catalog');
  const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
  assert.equal(answer.headers.get('content-type'), type);
  const head = await call(service.url, '/.well-known/api-catalog', { method: 'HEAD' });
  assert.equal(head.headers.get('link'), '</.well-known/api-catalog>; rel="api-catalog"');
  const [link, ...others] = answer.json.linkset;
  assert.deepEqual(others, []);
  assert.equal(link.anchor, `${service.url}/v1`);
  const targets: { href: string; type: string }[] = [...link['service-desc'], ...link['service-doc']];
  assert.deepEqual(
    targets.map(({ href }) => href),
    ['/openapi.json', '/openapi.yaml', '/reference'].map((path) => service.url + path),
  );
  for (const { href, type: promised } of targets) {
    const target = await call(service.url, new URL(href).pathname);
    assert.equal(target.status, 200);
    assert.ok(target.headers.get('content-type')?.startsWith(promised), href);
  }
});

test('RFC 9727 §3: the catalogue of a base address with a path of its own stays beside the API', () => {
  const urls = { ...EXAMPLE_URLS, production: 'https://shop.example/animals/v1' };
  const { linkset } = JSON.parse(openApi(urls, 'production').catalog);
  assert.equal(linkset[0].anchor, urls.production);
  assert.equal(linkset[0]['service-doc'][0].href, 'https://shop.example/animals/reference');
});

test('decisions §1: /reference works with no internet access: no script, and nothing from elsewhere', async (t) => {
  const service = await startTestService(t);
  const { status, headers, text } = await call(service.url, '/reference');
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  assert.doesNotMatch(text, /<script|<link|<img|<iframe|\ssrc=|@import|url\(|\sstyle=|\son\w+=/i);
  for (const [, target = ''] of text.matchAll(/href="([^"]*)"/g)) {
    if (target.startsWith('#')) assert.ok(text.includes(` id="${target.slice(1)}"`), target);
    else assert.equal((await call(service.url, target)).status, 200, target);
  }
});

test('the Content-Security-Policy of /reference admits its own style sheet and nothing else', async (t) => {
  const service = await startTestService(t);
  const { headers, text } = await call(service.url, '/reference');
  const styles = [...text.matchAll(/<style>([^<]*)<\/style>/g)].map(([, style = '']) => style);
  assert.equal(styles.length, 1);
  const digest = createHash('sha256').update(styles.join('')).digest('base64');
  const policy = (headers.get('content-security-policy') ?? '').split('; ');
  assert.ok(policy.includes("default-src 'self'"));
  assert.ok(policy.includes(`style-src 'sha256-${digest}'`));
  assert.ok(policy.includes("script-src 'none'"));
});

test('spec §4: the reference shows every operation, parameter, status and schema of the description', () => {
  const { document } = openApi(EXAMPLE_URLS, 'production');
  const page = referencePage(document);
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, { operationId, responses }] of Object.entries(item)) {
      const section = page.split(`<section id="${operationId}">`)[1]?.split('</section>')[0] ?? '';
      assert.ok(section.includes(`<code>${method.toUpperCase()} ${path}</code>`), operationId);
      for (const status of Object.keys(responses))
        assert.ok(section.includes(`<code>${status}</code>`), status);
    }
  }
  const { parameters, schemas } = document.components;
  for (const { name } of Object.values(parameters)) assert.ok(page.includes(`<td><code>${name}</code></td>`));
  for (const name of Object.keys(schemas)) assert.ok(page.includes(`<h3 id="${name}">`), name);
  assert.ok(page.includes('Deprecated; removed on 2030-12-05.'), 'spec §9');
});

test('text of the description cannot become markup of the page', () => {
  assert.equal(html`<b title="${`"'&`}">${'<i>'}</b>`.text, '<b title="&quot;&#39;&amp;">&lt;i&gt;</b>');
  const { document } = openApi(EXAMPLE_URLS, 'production');
  const hostile = '<script>alert("`<img>`")</script>';
  const info = {
    ...document.info,
    title: hostile,
    description: `${hostile}\n\n| ${hostile} |\n| --- |\n| ${hostile} |`,
  };
  assert.doesNotMatch(referencePage({ ...document, info }), /<script|<img/);
});

test('decisions §1: / leads to /reference; HEAD is answered, other methods are 405, and no key is asked for', async (t) => {
  const service = await startTestService(t);
  const root = await call(service.url, '/');
  assert.equal(root.status, 302);
  assert.equal(root.headers.get('location'), '/reference');
  for (const path of PAGES) {
    const get = await call(service.url, path);
    const head = await call(service.url, path, { method: 'HEAD' });
    assert.equal(head.status, get.status);
    assert.equal(head.text, '');
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(get.text)));
    const post = await call(service.url, path, { method: 'POST' });
    assertError(post, 'method_not_allowed');
    assert.equal(post.headers.get('allow'), 'GET, HEAD');
  }
  assertError(await call(service.url, '/openapi.xml'), 'not_found');
});
