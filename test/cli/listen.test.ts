// Contract: sections 8 and 13.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { verifyWebhook } from '../../client/src/index.ts';
import { call } from '../support/api.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { run, type Running, start, waitFor } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

/** A listener that says that it listens, and its secret. */
async function listen(t: TestContext, args: readonly string[], variables: Record<string, string>) {
  const running = start(['listen', ...args], variables);
  t.after(() => running.child.kill('SIGKILL'));
  const secret = await waitFor(running, ({ stdout }) => /whsec_\S+/.exec(stdout)?.[0]);
  return { running, secret };
}

/** The lines after the first one, when there are `count`. */
function linesOf(running: Running, count: number): Promise<readonly string[]> {
  return waitFor(running, ({ stdout }) => {
    const lines = stdout.trimEnd().split('\n').slice(1);
    return lines.length >= count && stdout.endsWith('\n') ? lines : undefined;
  });
}

test('listen sends each event to a local program, signed with the secret that it prints', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const program = await startEndpoint(t, [503, 302]);
  const { running, secret } = await listen(t, ['--forward-to', program.url, '--type', 'pet.*'], {
    PETSTORE_API_KEY: key,
    PETSTORE_URL: `${service.url}/v1`,
  });
  const large = '{"name":"Rex","categoryId":1152921504606846976,"status":"available"}';
  for (let count = 0; count < 3; count++) await call(service.url, '/v1/pets', { key, body: large });
  await call(service.url, '/v1/store/orders', { key, body: '{"petId":1}' });
  const lines = await linesOf(running, 4);
  assert.deepEqual(
    lines.map((line) => line.split('  ').filter((_, column) => column === 1 || column === 3)),
    [
      ['pet.created', '503'],
      ['pet.created', '302'],
      ['pet.created', '204'],
      ['pet.updated', '204'],
    ],
  );
  assert.equal(program.received.length, 4);
  for (const { headers, body } of program.received) {
    const event = await verifyWebhook(body, headers, secret);
    assert.equal(event.id, headers['webhook-id']);
    assert.match(body, /"categoryId":1152921504606846976/);
  }
  running.child.kill('SIGINT');
  await running.ended;
});

test('the first line of listen says how long the limit of the day lasts', async (t) => {
  const service = await startTestService(t);
  const line = async (perDay: number) => {
    const key = await service.issueKey({ account: `of ${perDay}`, limits: { perMinute: 10, perDay } });
    const args = ['--forward-to', 'http://127.0.0.1:1/', '--url', `${service.url}/v1`];
    const { running } = await listen(t, args, { PETSTORE_API_KEY: key });
    return running
      .stdout()
      .split('\n')[0]
      ?.replace(/^.* \(/, '(');
  };
  const pace = '120 requests an hour while nothing happens';
  assert.equal(await line(1_000), `(${pace}: the 999 left of this day's 1000 last 8 h 19 min)`);
  assert.equal(await line(100), `(${pace}: the 99 left of this day's 100 last 49 min)`);
  assert.equal(await line(10_000), `(${pace}: the 9999 left of this day's 10000 are enough for a day)`);
});

test('listen does not spread its requests over the day', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey({ account: 'free', limits: { perMinute: 60, perDay: 1_000 } });
  const program = await startEndpoint(t);
  const { running } = await listen(t, ['--forward-to', program.url, '--type', 'pet.*'], {
    PETSTORE_API_KEY: key,
    PETSTORE_URL: `${service.url}/v1`,
  });
  // Spread, the second event would come after more than a minute.
  for (const count of [1, 2, 3]) {
    await call(service.url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":1}' });
    await linesOf(running, count);
  }
  assert.equal(program.received.length, 3);
});

test('listen says why a program did not answer, and goes on', async (t) => {
  const service = await startTestService(t);
  const key = await service.issueKey();
  const args = ['--forward-to', 'http://127.0.0.1:1/', '--url', `${service.url}/v1`];
  const { running } = await listen(t, args, { PETSTORE_API_KEY: key });
  for (let count = 0; count < 2; count++)
    await call(service.url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":1}' });
  for (const line of await linesOf(running, 2)) assert.match(line, /pet\.created .* failed: \w/);
});

test('listen needs a key, a service that accepts it, and a URL', async (t) => {
  const service = await startTestService(t);
  const to = ['listen', '--forward-to', 'http://127.0.0.1:3000/'];
  const refused = async (args: readonly string[], variables: Record<string, string>) => {
    const { code, stdout, stderr } = await run(args, variables);
    assert.equal(stdout, '');
    return [code, stderr];
  };
  assert.deepEqual(await refused(to, {}), [2, 'petstore: PETSTORE_API_KEY must be set to an API key\n']);
  const key = { PETSTORE_API_KEY: 'petstore_live_wrong' };
  assert.deepEqual(await refused(to, { ...key, PETSTORE_URL: 'http://127.0.0.1:1' }), [
    2,
    'petstore: PETSTORE_URL must be an http or https address that ends in /v1\n',
  ]);
  const [code, message] = await refused([...to, '--url', `${service.url}/v1`], key);
  assert.equal(code, 1);
  assert.match(String(message), /^petstore: .*key.*\n$/);
  assert.equal((await refused(['listen', '--forward-to', 'file:/tmp'], key))[0], 2);
});
