import type { Row, Scenario } from '../support/scenario.ts';

const HOST = 'Host: a\r\n';
const CLOSE = 'Connection: close\r\n';
const CALLER = 'Authorization: Bearer $key\r\n';
const REX = '{"name":"Rex","categoryId":7}';

const hosts: readonly Row[] = [
  'a b',
  'a/b',
  'user@a',
  'a:b',
  '[::1',
  '\xe9',
  '',
  'a.example:8080',
  '[::1]:80',
  'a%20b',
].map((host) => [
  `the Host ${JSON.stringify(host)}`,
  { raw: `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n${CLOSE}\r\n` },
]);

export const FRAMING: Scenario = {
  name: 'framing',
  limits: { headersTimeout: 300, requestTimeout: 600, checkingInterval: 20 },
  rows: [
    ['an unparsable request line', { raw: 'NONSENSE\r\n\r\n' }],
    ['an unknown method', { raw: `FETCH /v1/pets HTTP/1.1\r\n${HOST}\r\n` }],
    ['an unknown version', { raw: `GET /v1/pets HTTP/9.9\r\n${HOST}\r\n` }],
    ['HTTP/2.0', { raw: `GET /v1/pets HTTP/2.0\r\n${HOST}\r\n` }],
    ['the preface of HTTP/2', { raw: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' }],
    ['a TLS handshake', { raw: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' }],
    ['a header without a colon', { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}nonsense\r\n\r\n` }],
    ['a header with a control character', { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: \x01\r\n\r\n` }],
    ['a folded header', { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: b\r\n c\r\n${CLOSE}\r\n` }],
    [
      'two lengths',
      { raw: `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab` },
    ],
    [
      'a length and chunks',
      {
        raw: `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      },
    ],
    ['a length that is no number', { raw: `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: x\r\n\r\n` }],
    ['a negative length', { raw: `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n` }],
    ['a broken chunk', { raw: `POST /v1/pets HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n` }],
    [
      'a broken chunk of a caller',
      {
        raw: `POST /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      },
    ],
    [
      'another transfer coding',
      {
        raw: `POST /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n${CLOSE}\r\n1d\r\n${REX}\r\n0\r\n\r\n`,
      },
    ],
    [
      'a body without length',
      { raw: `POST /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Content-Type: application/json\r\n${CLOSE}\r\n` },
    ],
    [
      'a GET with a body',
      { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Content-Length: 2\r\n${CLOSE}\r\nab` },
    ],
    ['no Host', { raw: `GET /v1/pets HTTP/1.1\r\n${CLOSE}\r\n` }],
    ['no Host of a caller', { raw: `GET /v1/pets HTTP/1.1\r\n${CALLER}${CLOSE}\r\n` }],
    ['two Hosts', { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}${HOST}${CLOSE}\r\n` }],
    ['no Host of a page', { raw: `GET /readyz HTTP/1.1\r\n${CLOSE}\r\n` }],
    ['CONNECT', { raw: `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n` }],
    [
      'an upgrade',
      {
        raw: `GET /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Upgrade: websocket\r\nConnection: Upgrade, close\r\n\r\n`,
      },
    ],
    [
      'a header block over 16 KiB',
      { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(17_000)}\r\n\r\n` },
    ],
    ['a target over 16 KiB', { raw: `GET /v1/pets?${'a'.repeat(17_000)} HTTP/1.1\r\n${HOST}\r\n` }],
    ['another expectation', { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}Expect: a-miracle\r\n${CLOSE}\r\n` }],
    [
      'another expectation of a page',
      { raw: `GET /readyz HTTP/1.1\r\n${HOST}Expect: a-miracle\r\n${CLOSE}\r\n` },
    ],
    [
      'a long body is not requested',
      {
        raw: `POST /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Content-Type: application/json\r\nContent-Length: 99999\r\nExpect: 100-continue\r\n${CLOSE}\r\n`,
      },
    ],
    ['a header block that takes too long', { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}` }],
    [
      'a body that takes too long',
      {
        raw: `POST /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{"name":`,
      },
    ],
    [
      'a body of nobody that takes too long',
      { raw: `POST /v1/pets HTTP/1.1\r\n${HOST}Content-Length: 99\r\n\r\n{"name":` },
    ],
    ['HTTP/1.0 without Host', { raw: 'GET /v1/pets HTTP/1.0\r\n\r\n' }],
    [
      'HTTP/1.0 kept alive',
      {
        raw: `GET /v1/pets HTTP/1.0\r\n${CALLER}Connection: keep-alive\r\n\r\nGET /v1/nothing HTTP/1.0\r\n${CALLER}\r\n`,
      },
    ],
    [
      'requests in a row',
      {
        raw: `GET /v1/pets?limit=0 HTTP/1.1\r\n${HOST}${CALLER}\r\nGET /v1/nowhere HTTP/1.1\r\n${HOST}${CALLER}\r\nPOST /v1/pets HTTP/1.1\r\n${HOST}${CALLER}Content-Type: application/json\r\nContent-Length: ${REX.length}\r\n\r\n${REX}GET /v1/pets HTTP/1.1\r\n${HOST}${CALLER}${CLOSE}\r\n`,
      },
    ],
    [
      'a good request before a broken one',
      { raw: `GET /v1/pets HTTP/1.1\r\n${HOST}${CALLER}\r\nGARBAGE\r\n\r\n` },
    ],
    ['an empty line before a request', { raw: `\r\nGET /healthz HTTP/1.1\r\n${HOST}${CLOSE}\r\n` }],
    ...hosts,
  ],
};
