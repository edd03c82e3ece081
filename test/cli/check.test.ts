// Contract: section 8.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { SCOPES } from '../../src/domain/scope.ts';
import { run, runProcess, startServiceProcess } from '../support/process.ts';
import { findOrCreateAccount, issueKey } from '../support/store.ts';
import { test } from '../support/test.ts';
import { prepared } from './prepared.ts';

/** A plan that a check does not wait for. */
const withBusiness = prepared(async ({ accounts, keys }) => {
  const { id } = await findOrCreateAccount(accounts, 'shop', 'business');
  return { key: (await issueKey(keys, { accountId: id, scopes: SCOPES })).key.reveal() };
});

/** A server that answers every request alike. */
async function startServer(t: TestContext, status: number, body: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const KEY = { PETSTORE_API_KEY: `petstore_live_${'a'.repeat(38)}` };

test('check prints a line for each promise, exits with 0, and only reads with a key of production', async (t) => {
  const { variables, key } = await withBusiness(t);
  const { url } = await startServiceProcess(t, variables);
  const { code, stdout, stderr } = await runProcess(['check', `${url}/v1`], { PETSTORE_API_KEY: key });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, /^kept {9}3\.2 {3}an invalid limit is 400, and never clamped \(6 answers\)$/m);
  assert.match(stdout, /^not checked {2}3\.10 {2}a deleted animal .*: it would write$/m);
  assert.match(stdout, / 0 broken, /);
  assert.match(stdout, /^Not seen from outside:$/m);
  const events = await run(['events', '--json'], variables);
  const types = JSON.parse(events.stdout).map(({ type }: { type: string }) => type);
  assert.deepEqual(types, ['key.created']);
});

test('check --write deletes what it added, and --json prints one value', async (t) => {
  const { variables, key } = await withBusiness(t);
  const { url } = await startServiceProcess(t, variables);
  // A name may have an address at which nobody listens.
  const address = `${url.replace('127.0.0.1', 'localhost')}/v1`;
  const args = ['check', address, '--key', key, '--write', '--json'];
  const { code, stdout, stderr } = await run(args, {});
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const { outcomes, left, unseen } = JSON.parse(stdout);
  const first = outcomes.find(({ section }: { section: string }) => section === '3.10');
  assert.equal(first.state, 'kept');
  assert.ok(left.length > 0 && unseen.length > 0);
  for (const path of left) assert.match(path, /^\/(?:store\/orders|account\/keys)\/\d+ \(\w+\)$/);
  for (const things of ['pets', 'categories', 'webhooks']) {
    const list = await run([things, 'list', '--json'], variables);
    assert.equal(list.stdout, '[]\n', things);
  }
});

test('check exits with 1 and says what was expected and what came', async (t) => {
  const url = await startServer(t, 200, '{}');
  const { code, stdout, stderr } = await run(['check', url], KEY);
  assert.equal(code, 1);
  assert.match(stderr, /^petstore: \d+ promises are broken\.\n$/);
  const line =
    'broken       1.4   an unknown path is 401 without a key and 404 with one: GET /v1/no-such-path without a key: expected 401 unauthorized; came 200 {}';
  assert.ok(stdout.includes(`${line}\n`), stdout);
});

test('check exits with 1 when nobody or something else answers or the key is not accepted, and with 2 without a key or an address', async (t) => {
  const url = await startServer(t, 401, '{"code":"unauthorized","message":"No.","status":401}');
  const refused = await run(['check', url], KEY);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^petstore: The key is not accepted: 401 [^\n]*No\.[^\n]*\n$/);
  const nobody = await run(['check', 'http://127.0.0.1:1/v1'], KEY);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /^petstore: There was no answer: [^\n]*ECONNREFUSED[^\n]*\n$/);
  const plain = await run(['check', url.replace('http:', 'https:')], KEY);
  assert.match(plain.stderr, /^petstore: There was no answer: the TLS handshake failed, [^\n]*\n$/);
  assert.deepEqual(await run(['check', url], {}), {
    code: 2,
    stdout: '',
    stderr: 'petstore: PETSTORE_API_KEY or --key must be an API key\n',
  });
  const other = await run(['check', await startServer(t, 404, '{"message":"No."}')], KEY);
  assert.deepEqual(other, {
    code: 1,
    stdout: '',
    stderr:
      'petstore: Nothing at this address looks like a Pet Store: GET /v1/account gives 404 {"message":"No."}\n',
  });
  for (const address of ['http://127.0.0.1:1', 'file:///v1', 'example/v1'])
    assert.equal((await run(['check', address], KEY)).code, 2, address);
});
