// Contract: section 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { assertError, assertRateHeaders, call, parseRaw, raw } from '../support/api.ts';
import { anyCharacter } from '../support/characters.ts';
import { each } from '../support/load.ts';
import { startTestService } from '../support/service.ts';

const COUNT = 5_000;

const text = fc.string({ unit: anyCharacter, maxLength: 40 });
const line = text.map((value) =>
  Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[\r\n]/g, '?'),
);
const method = fc.oneof(
  fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'CONNECT', 'PRI', 'get', 'QUERY'),
  line,
);
const target = fc.oneof(
  fc.constantFrom(
    '/v1/pets',
    '/v1/pets/1',
    '/v1/pets?limit=0',
    '/v1/%zz',
    '*',
    '/v1/pets/%00',
    'http://x/v1/pets',
    '//v1',
  ),
  line.map((value) => `/v1/${value}`),
  line.map((value) => `/v1/pets?cursor=${value}&limit=${value}`),
  line,
);
const version = fc.oneof(fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'ICY/1.1'), line);
const header = fc.oneof(
  fc.constantFrom(
    'Host: localhost',
    'Content-Length: 5',
    'Content-Length: -5',
    'Content-Length: 99999999999999999999',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Content-Type: application/json',
    'Content-Type: text/html',
    'Content-Encoding: br',
    'Expect: 100-continue',
    'Expect: more',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Authorization: Bearer',
    'If-None-Match: "',
    'Idempotency-Key: ',
    'X-Forwarded-For: nonsense,,',
    'X-Request-Id: \x7f',
    ' folded: yes',
    ': no name',
  ),
  fc.tuple(line, line).map(([name, value]) => `${name}: ${value}`),
);
const body = fc.oneof(
  fc.json(),
  text,
  fc.constantFrom('', '0\r\n\r\n', '5\r\nhello\r\n', '[[[[', '{"name":', '{"categoryId":1e400}'),
);

const AUTHORIZED = 'Host: x\r\nAuthorization: Bearer KEY\r\n';

/** Wrong down to its framing: most of these never become a request. */
const garbled = fc
  .tuple(method, target, version, fc.array(header, { maxLength: 6 }), body, fc.boolean())
  .map(([verb, path, protocol, headers, content, authorized]) => {
    const fields = `${authorized ? AUTHORIZED : ''}${headers.join('\r\n')}`;
    return `${verb} ${path} ${protocol}\r\n${fields}\r\nConnection: close\r\n\r\n${content}`;
  });

/** Whole requests that say something wrong. */
const framed = fc
  .tuple(
    fc.constantFrom(AUTHORIZED, AUTHORIZED, AUTHORIZED, AUTHORIZED, 'Host: x\r\nAuthorization: Bearer x\r\n'),
    fc.constantFrom('GET', 'POST', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'),
    fc.constantFrom('', '/', '/1', '/%zz', '?limit=', '?limit=1e2&', '?status=', '?cursor=', '?cursor=AAAA'),
    text.map((value) => encodeURIComponent(value.toWellFormed())),
    fc.constantFrom('application/json', 'application/json', 'application/json', 'text/plain', ''),
    fc.constantFrom(
      '',
      'Idempotency-Key: a b\r\n',
      'Expect: 100-continue\r\n',
      'X-Request-Id: <>\r\n',
      'Authorization: x\r\n',
    ),
    body,
  )
  .map(([caller, verb, path, more, type, field, content]) => {
    const bytes = Buffer.from(content).toString('latin1');
    const fields = `${field}Content-Type: ${type}\r\nContent-Length: ${bytes.length}\r\nConnection: close`;
    return `${verb} /v1/pets${path}${more} HTTP/1.1\r\n${caller}${fields}\r\n\r\n${bytes}`;
  });

const malformed = fc.oneof(garbled, { weight: 3, arbitrary: framed });

test('5,000 malformed requests each get the Error body and the headers, and never a fault of the service', async (t) => {
  // An unfinished body is what most of them are: they must not be waited for.
  const limits = { headersTimeout: 200, requestTimeout: 300, checkingInterval: 20, keepAliveTimeout: 100 };
  const service = await startTestService(t, { env: { LOG_LEVEL: 'error' }, limits });
  const key = await service.issueKey();
  const statuses = new Map<number, number>();
  await each(fc.sample(malformed, { numRuns: COUNT, seed: 20_261_121 }), 100, async (bytes) => {
    const answer = parseRaw(last(await raw(service.url, Buffer.from(bytes.replace('KEY', key), 'latin1'))));
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    // Requests that happen to be well-formed, or that ask for a page outside /v1, have their own tests.
    if (answer.status < 400 || answer.headers.get('x-ratelimit-limit') === null) {
      assert.ok(answer.status < 400 || !/^\S+ (?:http:\/\/x)?\/v1/.test(bytes), bytes);
      return;
    }
    const isRefused = answer.status < 500 || answer.status === 501 || answer.status === 505;
    assert.ok(isRefused, `${answer.status} for ${JSON.stringify(bytes)}`);
    assertRateHeaders(answer);
    if (!bytes.startsWith('HEAD')) assertError(answer, answer.json.code, answer.status);
  });
  t.diagnostic(JSON.stringify(Object.fromEntries([...statuses].toSorted(([a], [b]) => a - b))));
  for (const status of [400, 401, 404, 405, 415, 429])
    assert.ok((statuses.get(status) ?? 0) > 20, `${status} was tried`);
  assert.deepEqual(service.log, [], 'no fault of ours was logged');
  assert.equal((await call(service.url, '/v1/pets', { key })).status, 200, 'it goes on serving');
});

/** Without the interim answer to `Expect: 100-continue`. */
function last(response: string): string {
  return response.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
}
