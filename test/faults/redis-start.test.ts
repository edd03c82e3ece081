import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { runProcess, temporaryEnvironment } from '../support/process.ts';
import { temporaryRedis } from '../support/redis.ts';
import { freePort } from '../support/servers.ts';
import { test } from '../support/test.ts';

/** Runs `serve`, or another command, where it must refuse, and gives its one line. */
async function refusal(t: TestContext, redisUrl: string, command = ['serve']): Promise<string> {
  const { code, stdout, stderr } = await runProcess(command, {
    ...temporaryEnvironment(t),
    REDIS_URL: redisUrl,
  });
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' }, stderr);
  assert.match(stderr, /^petstore: [^\n]+\n$/);
  return stderr;
}

test('a command that cannot reach Redis gives one line and exit 1', async (t) => {
  const port = await freePort();
  const line = await refusal(t, `redis://user:hunter2@127.0.0.1:${port}`, ['bans', 'list']);
  assert.match(
    line,
    new RegExp(`Redis server cannot be used: connect ECONNREFUSED 127\\.0\\.0\\.1:${port}\\.$`, 'm'),
  );
  assert.doesNotMatch(line, /hunter2/);
});

test('a command whose Redis never answers gives one line and exit 1', async (t) => {
  const server = await temporaryRedis(t);
  server.pause();
  assert.match(await refusal(t, server.url, ['bans', 'list']), /cannot be used: no answer within 1000 ms/);
});

test('a wrong Redis password gives one line without the password and exit 1', async (t) => {
  const { port } = await temporaryRedis(t, ['--requirepass', 'right']);
  const line = await refusal(t, `redis://:hunter2@127.0.0.1:${port}`);
  assert.match(line, /cannot be used: WRONGPASS/);
  assert.doesNotMatch(line, /hunter2/);
});

test('a missing Redis password gives one line and exit 1', async (t) => {
  const { url } = await temporaryRedis(t, ['--requirepass', 'right']);
  assert.match(await refusal(t, url), /cannot be used: NOAUTH/);
});

test('a Redis that evicts keys gives one line that names the policy and exit 1', async (t) => {
  const { url } = await temporaryRedis(t, ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']);
  assert.match(await refusal(t, url), /evicts keys \(maxmemory-policy allkeys-lru\).* set noeviction/);
});

test('a Redis replica gives one line and exit 1', async (t) => {
  const primary = await temporaryRedis(t);
  const { url } = await temporaryRedis(t, ['--replicaof', '127.0.0.1', `${primary.port}`]);
  assert.match(await refusal(t, url), /read-only replica: connect to the primary/);
});

test('a Redis user without the rights to count gives one line and exit 1', async (t) => {
  const { port } = await temporaryRedis(t, ['--user', 'guest', 'on', '>hunter2', '~*', '+info']);
  const line = await refusal(t, `redis://guest:hunter2@127.0.0.1:${port}`);
  assert.match(line, /cannot be used: NOPERM/);
  assert.doesNotMatch(line, /hunter2/);
});
