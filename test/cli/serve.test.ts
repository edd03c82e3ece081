import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type AddressInfo, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { run, startServiceProcess, temporaryEnvironment, waitFor } from '../support/process.ts';

const KEY = /petstore_live_[0-9A-Za-z]{38}/;

test('decisions §8: serve --first-key prints one key on standard error, and its curl line works as printed', async (t) => {
  const variables = temporaryEnvironment(t);
  const service = await startServiceProcess(t, variables, ['--first-key']);
  const command = await waitFor(service, ({ stderr }) => /^ +(curl .*)$/m.exec(stderr)?.[1]);
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  assert.equal(stdout, '[]');
  assert.doesNotMatch(service.stdout(), KEY, 'the log must not hold the key');
});

test('decisions §8: with a key there already, serve --first-key makes and prints none', async (t) => {
  const variables = temporaryEnvironment(t);
  const created = await run(['keys', 'create', '--account', 'shop', '--json'], variables);
  assert.equal(created.code, 0, created.stderr);
  const service = await startServiceProcess(t, variables, ['--first-key']);
  service.child.kill('SIGTERM');
  const { stderr } = await service.ended;
  assert.equal(stderr, '');
  const listed = await run(['keys', 'list', '--json'], variables);
  assert.equal((JSON.parse(listed.stdout) as unknown[]).length, 1);
});

test('decisions §8: plain serve never prints a key', async (t) => {
  const variables = temporaryEnvironment(t);
  const service = await startServiceProcess(t, variables);
  service.child.kill('SIGINT');
  const { code, stdout, stderr } = await service.ended;
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.doesNotMatch(stdout, KEY);
});

test('decisions §8: SIGTERM stops the service with exit 0, and its last log line says so', async (t) => {
  const service = await startServiceProcess(t, temporaryEnvironment(t));
  service.child.kill('SIGTERM');
  const { code, stdout } = await service.ended;
  assert.equal(code, 0);
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  assert.equal(last['msg'], 'stopped');
  assert.match(String(last['time']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

test('decisions §8: a second signal ends a service at once that is still finishing a request', async (t) => {
  const service = await startServiceProcess(t, temporaryEnvironment(t), ['--first-key']);
  const key = await waitFor(service, ({ stderr }) => KEY.exec(stderr)?.[0]);
  // A body that never comes keeps the service waiting for it.
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n',
  );
  // "100 Continue": the request has been accepted.
  await once(socket, 'data');
  service.child.kill('SIGTERM');
  await waitFor(service, ({ stdout }) => stdout.includes('"stopping"') || undefined);
  service.child.kill('SIGTERM');
  const { code, stdout } = await service.ended;
  assert.equal(code, 143);
  assert.doesNotMatch(stdout, /"stopped"/);
});

test('decisions §7: every faulty variable is reported by name at once, and the process exits 2', async (t) => {
  const variables = temporaryEnvironment(t);
  const { code, stdout, stderr } = await run(['serve'], { ...variables, PORT: 'http', BAN_AFTER: '0' });
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    'petstore: PORT must be a whole number from 0 to 65535',
    'petstore: BAN_AFTER must be a whole number from 1 to 10000',
  ]);
});

test('decisions §8: a port in use ends serve with one clear line and exit 1', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { code, stdout, stderr } = await run(['serve'], {
    ...temporaryEnvironment(t),
    PORT: `${port}`,
  });
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.equal(stderr, `petstore: Cannot listen on 127.0.0.1:${port}: the port is in use.\n`);
});
