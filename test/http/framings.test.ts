// Content counts, not its framing. Contract: sections 3.1 and 3.10.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { MINUTE } from '../../src/domain/clock.ts';
import { OPERATIONS, OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { call, raw } from '../support/api.ts';
import { startTestConsole } from '../support/console.ts';
import { startTestService } from '../support/service.ts';

const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const OTHER_TYPE = 'Content-Type: text/plain\r\nContent-Encoding: gzip\r\n';

/** Header fields and the rest of requests without content, as clients and proxies send them. */
const EMPTY: readonly (readonly [fields: string, rest: string])[] = [
  ['Content-Length: 0\r\n', ''],
  [CHUNKED, '0\r\n\r\n'],
  [CHUNKED, '000;extension=a\r\nTrailer: a\r\n\r\n'],
  ['Content-Type: application/json\r\n', ''],
  [OTHER_TYPE, ''],
  [`${OTHER_TYPE}Content-Length: 0\r\n`, ''],
  [`${OTHER_TYPE}${CHUNKED}`, '0\r\n\r\n'],
];

/** The same of requests whose content is `{}`. */
const FULL: typeof EMPTY = [
  ['Content-Length: 2\r\n', '{}'],
  [CHUNKED, '2\r\n{}\r\n0\r\n\r\n'],
  [CHUNKED, '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n'],
  [`${OTHER_TYPE}${CHUNKED}`, '2\r\n{}\r\n0\r\n\r\n'],
];

/** What was answered to requests that follow one another: the status and the code of the error. */
function outcomes(responses: string): string[] {
  return responses
    .split(/HTTP\/1\.1 (?=\d)/)
    .slice(1)
    .filter((response) => !response.startsWith('100 '))
    .map((response) => `${response.slice(0, 3)} ${/"code":"(\w+)"/.exec(response)?.[1] ?? ''}`.trim());
}

/** Every method of every operation, about things that do not exist. */
function targets(operations: readonly { readonly method: string; readonly path: string }[]): string[] {
  return operations.flatMap(({ method, path }) =>
    (method === 'GET' ? ['GET', 'HEAD', 'OPTIONS'] : [method]).map(
      (each) => `${each} ${path.replaceAll(/\{\w+\}/g, '999999')}`,
    ),
  );
}

/** Compares requests without content with the one that has no field about content. Another request follows each. */
async function compare(base: string, prefix: string, target: string, head: string): Promise<void> {
  const beginning = `${target.replace(' ', ` ${prefix}`)} HTTP/1.1\r\n${head}`;
  const other = `GET ${prefix}/nothing HTTP/1.1\r\n${head}`;
  const last = `${other}Connection: close\r\n\r\n`;
  const [bare, next] = outcomes(await raw(base, `${beginning}\r\n${last}`));
  assert.ok(bare !== undefined && next === '404 not_found', target);
  const all = EMPTY.map(([fields, rest]) => `${beginning}${fields}\r\n${rest}`).join(`${other}\r\n`);
  assert.deepEqual(
    outcomes(await raw(base, all + last)),
    EMPTY.flatMap(() => [bare, next]),
    target,
  );
}

test('a request without content gets the same answer however that is framed', async (t) => {
  const service = await startTestService(t);
  const head = `Host: a.example\r\nAuthorization: Bearer ${await service.issueKey()}\r\n`;
  for (const target of targets(OPERATIONS)) {
    // Some operations have a limit of their own in each minute.
    await service.passTime(MINUTE);
    await compare(service.url, '/v1', target, head);
  }
});

test('a request of an operator without content gets the same answer however that is framed', async (t) => {
  const operators = await startTestConsole(t);
  const { host } = new URL(operators.consoleUrl);
  const head = `Host: ${host}\r\nAuthorization: Bearer ${await operators.makeToken('ada')}\r\n`;
  for (const target of targets(OPERATOR_OPERATIONS))
    await compare(operators.listener, '/admin/v1', target, head);
});

/** A service with a key, and functions that add an animal and write the beginning of a request about it. */
async function startWithPet(t: TestContext) {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const add = async () =>
    (await call(service.url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":7,"status":"available"}' }))
      .json.id as number;
  const head = (method: string, path: string) =>
    `${method} /v1${path} HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer ${key}\r\n`;
  return { service, key, add, head };
}

test('a change without content is done however that is framed', async (t) => {
  const { service, key, add, head } = await startWithPet(t);
  for (const [fields, rest] of EMPTY) {
    const id = await add();
    const body = JSON.stringify({ petId: id });
    const order = (await call(service.url, '/v1/store/orders', { key, body })).json;
    const requests = [head('POST', `/store/orders/${order.id}/complete`), head('DELETE', `/pets/${id}`)]
      .map((each) => `${each}${fields}\r\n${rest}`)
      .join('');
    const last = `${head('GET', `/pets/${id}`)}Connection: close\r\n\r\n`;
    assert.deepEqual(outcomes(await raw(service.url, requests + last)), ['200', '204', '404 not_found']);
  }
});

test('a DELETE with content is refused and deletes nothing, however it is framed', async (t) => {
  const { service, add, head } = await startWithPet(t);
  const id = await add();
  for (const [fields, rest] of FULL) {
    const last = `${head('GET', `/pets/${id}`)}Connection: close\r\n\r\n`;
    const found = outcomes(
      await raw(service.url, `${head('DELETE', `/pets/${id}`)}${fields}\r\n${rest}${last}`),
    );
    assert.deepEqual(found, ['400 invalid_request', '200'], fields + rest);
  }
});

for (const [end, expected] of [
  ['0\r\n\r\n', '204'],
  ['2\r\n{}\r\n0\r\n\r\n', '400 invalid_request'],
] as const)
  test(`a chunked DELETE waits for its end: ${expected}`, async (t) => {
    const { service, add, head } = await startWithPet(t);
    const id = await add();
    const client = connect(Number(new URL(service.url).port), '127.0.0.1');
    const answered = textOf(client);
    client.write(`${head('DELETE', `/pets/${id}`)}${CHUNKED}Expect: 100-continue\r\n\r\n`);
    // The service has read it before its end comes: another connection is answered.
    await call(service.url, '/healthz');
    client.write(`${end}${head('GET', '/pets')}Connection: close\r\n\r\n`);
    assert.deepEqual(outcomes(await answered), [expected, '200']);
  });
