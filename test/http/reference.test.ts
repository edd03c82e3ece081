// Contract: sections 1 and 3.
import assert from 'node:assert/strict';
import { get as getHttp, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { TRANSITIONS } from '../../src/resources/pets/rules.ts';
import { PetStatus } from '../../src/resources/pets/schema.ts';
import { openApi } from '../../src/description/openapi.ts';
import { assertError, call } from '../support/api.ts';
import { startTestConsole } from '../support/console.ts';
import { startTestService } from '../support/service.ts';

const PAGES = [
  '/',
  '/reference',
  '/reference.md',
  '/dashboard',
  '/llms.txt',
  '/openapi.json',
  '/openapi.yaml',
  '/.well-known/api-catalog',
];

/** An answer as its bytes, which `call` reads as text. */
function asked(base: string, path: string, headers: Record<string, string>) {
  return new Promise<{ headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    getHttp(base + path, { headers, agent: false }, (response) => {
      buffer(response).then((body) => resolve({ headers: response.headers, body }), reject);
    }).on('error', reject);
  });
}

test('/openapi.json and /openapi.yaml describe this environment at its own address', async (t) => {
  const env = { PETSTORE_ENVIRONMENT: 'staging', PRODUCTION_URL: EXAMPLE_URLS.production };
  const service = await startTestService(t, { env });
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

test('/.well-known/api-catalog links to the reference and the description', async (t) => {
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

// RFC 9727, section 3.
test('a base address with a path keeps its API catalogue beside the API', () => {
  const urls = { ...EXAMPLE_URLS, production: 'https://shop.example/animals/v1' };
  const { linkset } = JSON.parse(openApi(urls, urls.production).catalog);
  assert.equal(linkset[0].anchor, urls.production);
  assert.equal(linkset[0]['service-doc'][0].href, 'https://shop.example/animals/reference');
});

test('/reference has no inline script, and loads only files that the service has', async (t) => {
  const service = await startTestService(t);
  const { status, headers, text } = await call(service.url, '/reference');
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.doesNotMatch(text, /<script(?![^>]*\ssrc=)|<style|<iframe|\sstyle=|\son\w+=/i);
  const targets = [...text.matchAll(/<(?:link|script|img|a)[^>]*\s(?:href|src)="([^"#]+)"/g)].map(
    ([, target = '']) => target,
  );
  assert.ok(targets.length > 5);
  for (const target of new Set(targets)) {
    const url = new URL(target, `${service.url}/reference`);
    assert.equal(url.origin, service.url, target);
    assert.equal((await call(service.url, url.pathname)).status, 200, target);
  }
});

test('the policy of /reference allows our own files, and calls of both servers', async (t) => {
  const service = await startTestService(t, { env: { STAGING_URL: EXAMPLE_URLS.staging } });
  const { headers } = await call(service.url, '/reference');
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "style-src 'self'", "frame-ancestors 'none'"])
    assert.ok(policy.split('; ').includes(part), part);
  assert.match(policy, /script-src 'self';/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.ok(policy.includes(`connect-src 'self' ${service.url} ${new URL(EXAMPLE_URLS.staging).origin};`));
});

test('other sites get neither the address of a page nor a reference to its window', async (t) => {
  const service = await startTestConsole(t);
  for (const url of [`${service.url}/reference`, `${service.url}/dashboard`, `${service.consoleUrl}/`]) {
    const { pathname, origin } = new URL(url);
    const { headers } = await call(origin, pathname);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', url);
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', url);
    assert.equal(headers.get('cache-control'), 'no-cache', url);
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/, url);
  }
});

test('files of the reference are cached for ever by their hash, and no others are served', async (t) => {
  const service = await startTestService(t, { env: { LOG_LEVEL: 'debug' } });
  const { text } = await call(service.url, '/reference');
  const [, folder = ''] = /src="\.\/(ui\/[\w-]{16}\/)main\.js"/.exec(text) ?? [];
  const file = await call(service.url, `/${folder}main.js`);
  assert.equal(file.status, 200);
  assert.equal(file.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(file.headers.get('x-content-type-options'), 'nosniff');
  for (const path of [
    `${folder}src/pages/reference/content.ts`,
    `${folder}src/pages/console/main.js`,
    `${folder}../../reference.ts`,
    folder,
    'ui/0000000000000000/main.js',
    'reference/',
  ])
    assertError(await call(service.url, `/${path}`), 'not_found');
});

// With everything that it loads, so that it is there soon on a slow phone.
test('the reference has at most 45 KB, and 120 KB with what it loads, compressed', async (t) => {
  const service = await startTestService(t);
  const base = service.url;
  const read = async (path: string) => {
    const { body } = await asked(base, path, { 'accept-encoding': 'br' });
    return body;
  };
  const page = await read('/reference');
  const text = brotliDecompressSync(page).toString();
  const files = [
    ...text.matchAll(
      /<(?:link rel="(?:stylesheet|modulepreload|icon)"|script|img)[^>]*(?:href|src)="([^"]+)"/g,
    ),
  ];
  const addresses = new Set(files.map(([, address = '']) => new URL(address, `${base}/`).pathname));
  assert.ok(page.length <= 45_000, `${page.length} bytes`);
  let size = page.length;
  for (const address of addresses) size += (await read(address)).length;
  assert.ok(addresses.size > 5);
  assert.ok(size <= 120_000, `${size} bytes`);
  t.diagnostic(`${page.length} bytes, and ${size} in ${addresses.size + 1} files`);
});

// RFC 9110, section 12.5.3.
test('pages are compressed for clients that accept it, with the same content', async (t) => {
  const service = await startTestService(t);
  const plain = await asked(service.url, '/openapi.json', {});
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(plain.headers.vary, 'Accept-Encoding');
  const takeApart = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const [accepted, coding] of [
    ['gzip, deflate, br', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br ; q=0.00 , gzip', 'gzip'],
  ] as const) {
    const { headers, body } = await asked(service.url, '/openapi.json', { 'accept-encoding': accepted });
    assert.equal(headers['content-encoding'], coding);
    assert.ok(body.length < plain.body.length / 4);
    assert.deepEqual(takeApart[coding](body), plain.body);
    assert.notEqual(headers.etag, plain.headers.etag, 'RFC 9110 §8.8.3: other bytes, another entity tag');
  }
  for (const none of ['br;q=0', 'identity', 'deflate']) {
    const { headers } = await asked(service.url, '/openapi.json', { 'accept-encoding': none });
    assert.equal(headers['content-encoding'], undefined, none);
  }
});

// RFC 9110, section 13.1.2.
test('a page that the client already has is 304', async (t) => {
  const service = await startTestService(t);
  for (const path of ['/reference', '/reference.md', '/llms.txt', '/openapi.json', '/openapi.yaml']) {
    const first = await call(service.url, path);
    const tag = first.headers.get('etag') ?? '';
    const again = await call(service.url, path, { headers: { 'if-none-match': tag } });
    assert.equal(again.status, 304, path);
    assert.equal(again.text, '');
    const other = await call(service.url, path, { headers: { 'if-none-match': '"other"' } });
    assert.equal(other.status, 200, path);
  }
});

test('the Markdown has everything that the description has', async (t) => {
  const service = await startTestService(t);
  const { text, headers } = await call(service.url, '/reference.md');
  assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8');
  const base = `${service.url}/v1`;
  const { document }: { document: Record<string, any> } = openApi({ production: base }, base);
  assert.ok(text.includes(document.info.description));
  for (const { url } of document.servers) assert.ok(text.includes(`\`${url}\``));
  for (const [path, item] of Object.entries<Record<string, any>>(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const section = text.split(`\n### ${operation.summary}\n`)[1]?.split(/\n##{1,2} /)[0] ?? '';
      assert.ok(
        section.includes(
          `\`${method.toUpperCase()} ${path}\` (${[operation.operationId, ...operation.security[0].apiKey.map((scope: string) => `scope ${scope}`)].join('; ')}`,
        ),
      );
      assert.ok(section.includes(operation.description));
      for (const [status, response] of Object.entries<any>(operation.responses)) {
        assert.ok(section.includes(`#### ${status}\n\n${response.description}`), status);
        for (const example of Object.values<any>(response.content?.['application/json'].examples ?? {})) {
          assert.ok(section.includes(JSON.stringify(example.value)), status);
        }
      }
      for (const { source } of operation['x-codeSamples']) assert.ok(section.includes(source));
    }
  }
  for (const { name } of Object.values<any>(document.components.parameters)) {
    assert.ok(text.includes(`| \`${name}\` | `), name);
  }
  for (const name of Object.keys(document.components.schemas))
    assert.ok(text.includes(`\n### ${name}\n`), name);
});

test('the picture of the states has every transition, as a drawing and as text', async (t) => {
  const service = await startTestService(t);
  const { text, headers } = await call(service.url, '/reference/states.svg');
  assert.equal(headers.get('content-type'), 'image/svg+xml');
  assert.match(text, /<title id="title">The states of an animal<\/title>/);
  const [, told = ''] = /<desc id="desc">([^<]+)<\/desc>/.exec(text) ?? [];
  const { text: markdown } = await call(service.url, '/reference.md');
  assert.ok(markdown.includes(`![${told}](${service.url}/reference/states.svg)`));
  for (const { event, from, to, hasOpenOrder } of TRANSITIONS) {
    assert.ok(text.includes(`>${event}</text>`), event);
    const [before, after] = [from, to].map((state) => (state === 'any' ? 'any status' : state));
    const order = hasOpenOrder ? 'an order is open' : 'no order is open';
    assert.ok(told.includes(`From ${before} to ${after} if ${order}: ${event}.`), told);
    const row = [event, hasOpenOrder ? 'yes' : 'no', before, after].join(' | ');
    assert.ok(markdown.replaceAll('`', '').includes(`| ${row} |`), row);
  }
  for (const status of PetStatus.options) assert.ok(text.includes(`>${status}</text>`), status);
});

test('llms.txt links the reference and the description at working addresses', async (t) => {
  const service = await startTestService(t);
  const { text, headers } = await call(service.url, '/llms.txt');
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.match(text, /^# Pet Store API\n\n> /);
  const links = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, target = '']) => target);
  assert.deepEqual(
    links,
    ['reference.md', 'openapi.json', 'openapi.yaml', 'reference'].map((page) => `${service.url}/${page}`),
  );
  for (const link of links) assert.equal((await call(service.url, new URL(link).pathname)).status, 200, link);
});

test('/ redirects to /reference without a key, and other methods are 405', async (t) => {
  const service = await startTestService(t);
  const { status, headers } = await call(service.url, '/');
  assert.deepEqual([status, headers.get('location')], [302, '/reference']);
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
