import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { suite, type TestContext } from 'node:test';
import { call } from '../support/api.ts';
import { issueKey } from '../support/instances.ts';
import { runProcess, startServiceProcess, temporaryEnvironment, type Variables } from '../support/process.ts';
import { ask, temporaryRedis } from '../support/redis.ts';
import { freePort, program } from '../support/servers.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { test } from '../support/test.ts';

/** A service over this Redis answers, and the command line sees there what it counted. */
async function counts(t: TestContext, variables: Variables): Promise<void> {
  const env = { ...temporaryEnvironment(t), ...variables, BAN_AFTER: '1' };
  const service = await startServiceProcess(t, env);
  const { key } = await issueKey(env, { limits: { perMinute: 2, perDay: 9 } });
  const statuses = [];
  for (let request = 0; request < 4; request++)
    statuses.push((await call(service.url, '/v1/pets', { key })).status);
  assert.deepEqual(statuses, [200, 200, 429, 429]);
  // In processes of their own, because Node.js reads a certificate at its start.
  const askProgram = async (args: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await runProcess([...args, '--json'], env);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const [usage] = (await askProgram(['usage'])) as [{ day: { remaining: number } }];
  assert.equal(usage.day.remaining, 7);
  assert.equal(((await askProgram(['bans', 'list'])) as unknown[]).length, 1);
  assert.deepEqual(await askProgram(['bans', 'lift', '1']), { keyId: 1, lifted: true });
  assert.deepEqual(await askProgram(['bans', 'list']), []);
}

// At once, because each starts processes of its own.
void suite('access to Redis', { concurrency: true }, () => {
  test('a Redis password may have any characters', async (t) => {
    const { port } = await temporaryRedis(t, ['--requirepass', 'p@ss/w:rd%']);
    await counts(t, { REDIS_URL: `redis://:${encodeURIComponent('p@ss/w:rd%')}@127.0.0.1:${port}` });
  });

  test('a Redis user with only the documented rights works', async (t) => {
    const rights = ['~petstore:*', '+@hash', '+@list', '+@sortedset', '+eval', '+evalsha', '+info', '+time'];
    const keys = ['+del', '+pexpire', '+pexpireat', '+pexpiretime', '+scan'];
    const { port, url } = await temporaryRedis(t);
    await ask(url, ['ACL', 'SETUSER', 'petstore', 'on', '>secret', ...rights, ...keys]);
    await ask(url, ['ACL', 'SETUSER', 'default', 'off']);
    await counts(t, { REDIS_URL: `redis://petstore:secret@127.0.0.1:${port}` });
  });

  test('rediss:// works with the given certificate, and is refused without it', async (t) => {
    const folder = temporaryFolder(t);
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const subject = ['-subj', '/CN=petstore', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    const files = ['-keyout', key, '-out', certificate];
    execFileSync(program('openssl', 'openssl'), ['req', '-x509', ...kind, ...subject, ...files], {
      stdio: 'pipe',
    });
    const port = await freePort();
    const tls = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    await temporaryRedis(t, ['--tls-port', `${port}`, ...tls, '--tls-ca-cert-file', certificate]);
    const REDIS_URL = `rediss://127.0.0.1:${port}`;
    await counts(t, { REDIS_URL, NODE_EXTRA_CA_CERTS: certificate });
    const { code, stderr } = await runProcess(['serve'], { ...temporaryEnvironment(t), REDIS_URL });
    assert.equal(code, 1);
    assert.match(stderr, /^petstore: The Redis server cannot be used: self-signed certificate.*\n$/);
  });
});
