// The service opens no connection but those that docs/operating.md names.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS, OPERATOR_OPERATIONS } from '../../src/resources/operations.ts';
import { call } from '../support/api.ts';
import { cborText, inventAuthenticator } from '../support/authenticator.ts';
import { startEndpoint } from '../support/endpoint.ts';
import { PROGRAM, run, runJson, temporaryEnvironment, waitFor, watch } from '../support/process.ts';
import { program } from '../support/servers.ts';
import { until } from '../support/until.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

const NAME_SERVER = 53;

/** The addresses to which system calls connect, except those of name servers and the sockets of this machine. */
function connected(trace: string): ReadonlySet<string> {
  const calls = readFileSync(trace, 'utf8').matchAll(/connect\(.*htons\((\d+)\).*?"([^"]+)"/g);
  const others = Array.from(calls).filter(([, port]) => Number(port) !== NAME_SERVER);
  return new Set(others.map(([, port, address]) => `${address}:${port}`));
}

test('a service under every request connects to the endpoints of webhooks alone', async (t) => {
  const strace = program('strace', 'strace');
  const variables = {
    ...temporaryEnvironment(t),
    CONSOLE_PORT: '0',
    METRICS_PORT: '0',
    WEBHOOKS_ALLOW_PRIVATE: 'true',
  };
  const scopes = 'pets:read,pets:write,store:read,store:write,keys:manage,events:read,webhooks:manage';
  const { key } = await runJson<{ key: string }>(
    ['keys', 'create', '--account', 'shop', '--plan', 'pro', '--scopes', scopes],
    variables,
  );
  await runJson(['operators', 'create', 'ada', '--role', 'admin'], variables);
  const trace = join(temporaryFolder(t), 'trace');
  const traced = [
    // The tracer is no parent of the service, which gets signals itself.
    '-D',
    '-f',
    '-qq',
    '-s',
    '256',
    '-e',
    'trace=connect',
    '-o',
    trace,
    process.execPath,
    PROGRAM,
    'serve',
  ];
  const service = watch(spawn(strace, traced, { env: variables }));
  t.after(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
  });
  const find = (message: string) =>
    waitFor(service, ({ stdout }) => {
      const line = stdout.split('\n').find((each) => each.includes(`"msg":"${message}"`));
      return line === undefined ? undefined : (JSON.parse(line) as { url: string; listener: string });
    });
  const [{ url }, { listener }] = [await find('listening'), await find('console')];

  const endpoint = await startEndpoint(t);
  const added = await call(url, '/v1/webhooks', { key, body: JSON.stringify({ url: endpoint.url }) });
  assert.equal(added.status, 201, added.text);
  await call(url, '/v1/pets', { key, body: '{"name":"Rex","categoryId":1}' });
  await until(() => endpoint.received.length > 0);

  // Every operation, with the example of its body.
  const link = /#(\S+)/.exec(
    (await run(['console', '--as', 'ada'], { ...variables, CONSOLE_URL: listener })).stdout,
  )?.[1];
  const { port } = new URL(listener);
  const own = { host: `localhost:${port}`, origin: `http://localhost:${port}` };
  const entered = await call(listener, '/sign-in', { body: JSON.stringify({ link }), headers: own });
  assert.equal(entered.status, 204, entered.text);
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const asOperator = { headers: { ...own, cookie } };
  for (const [operations, base, sent] of [
    [OPERATIONS, `${url}/v1`, { key }],
    [OPERATOR_OPERATIONS, `${listener}/admin/v1`, asOperator],
  ] as const)
    for (const { id, method, path, body: described } of operations) {
      const [example] = Object.values(described?.examples ?? {});
      const body = example && { body: JSON.stringify(example.value) };
      // These would end what the others need.
      if (/^(?:delete|remove|revoke|rotateKey|signOut)/.test(id)) continue;
      await call(base, path.replaceAll(/\{\w+\}/g, '1'), { method, ...body, ...sent });
    }

  // Each format of attestation, as a browser would send it.
  for (const format of ['android-key', 'packed', 'tpm', 'apple', 'fido-u2f', 'android-safetynet', 'none']) {
    const begun = await call(listener, '/admin/v1/passkeys/challenge', { ...asOperator, method: 'POST' });
    const { challenge } = begun.json;
    const credential = inventAuthenticator().create(
      { origin: own.origin, challenge },
      { format: cborText(format) },
    );
    const body = JSON.stringify({ name: format, credential });
    const answer = await call(listener, '/admin/v1/passkeys', { ...asOperator, body });
    assert.equal(answer.status, format === 'none' ? 201 : 400, answer.text);
  }
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
  assert.deepEqual(connected(trace), new Set([new URL(endpoint.url).host]));
});
