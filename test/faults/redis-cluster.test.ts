// Contract: section 6.
import assert from 'node:assert/strict';
import { NoAnswer } from '../../src/limits/timeout.ts';
import { connected, newLimiter } from '../limits/redis-fixture.ts';
import { keyCaller } from '../limits/quota-contract.ts';
import { call } from '../support/api.ts';
import { fakeClock } from '../support/clock.ts';
import {
  ask,
  beginMove,
  findOwner,
  moveBetween,
  temporaryCluster,
  temporaryReplica,
} from '../support/redis.ts';
import type { TestServer } from '../support/servers.ts';
import type { TestService } from '../support/service.ts';
import { BACK, logged, LOST, startSharedCounting } from '../support/shared-counting.ts';
import { until } from '../support/until.ts';
import { test } from '../support/test.ts';

const LIMITS = { perMinute: 60, perDay: 1_000 };

const countsKey = (caller: string) => `petstore:production:{${caller}}:usage`;

test('callers of a lost primary get a share, all others keep their limits', async (t) => {
  const servers = await temporaryCluster(t);
  const [gone] = servers;
  assert.ok(gone !== undefined);
  const { services } = await startSharedCounting(t, 2, [gone.url], { limits: LIMITS });
  const [service] = services;
  assert.ok(service !== undefined);
  const keys = new Map<string, TestServer>();
  for (let account = 2; account < 14; account++) {
    const key = await service.issueKey({ account: `account ${account}`, limits: LIMITS });
    keys.set(key, await findOwner(countsKey(`account ${account}`), servers));
  }
  assert.equal(new Set(keys.values()).size, 3);
  const limits = async () => {
    const answers = [];
    for (const [key, owner] of keys) {
      const { status, headers } = await call(service.url, '/v1/pets', { key });
      assert.equal(status, 200);
      answers.push([owner.port, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]);
    }
    return answers;
  };
  const owners = [...keys.values()].map(({ port }) => port);
  assert.deepEqual(
    await limits(),
    owners.map((port) => [port, '60', '59']),
  );
  await gone.kill();
  const during = owners.map((port) => (port === gone.port ? [port, '30', '29'] : [port, '60', '58']));
  assert.deepEqual(await limits(), during);
  await until(() => services.every((each) => logged(each, LOST) === 1));
  assert.equal(service.log.find(({ msg }) => msg === LOST)?.['server'], `127.0.0.1:${gone.port}`);
  await gone.restart();
  await until(() => services.every((each) => logged(each, BACK) === 1));
  // It has forgotten everything, and was told: of the one request that it had counted before.
  const after = owners.map((port) => (port === gone.port ? [port, '60', '58'] : [port, '60', '57']));
  assert.deepEqual(await limits(), after);
  for (const each of services) assert.deepEqual([logged(each, LOST), logged(each, BACK)], [1, 1]);
});

test('a replica that takes over continues the counts of its primary', async (t) => {
  const servers = await temporaryCluster(t);
  const [gone, other] = servers;
  assert.ok(gone !== undefined && other !== undefined);
  const replica = await temporaryReplica(t, gone);
  const { services } = await startSharedCounting(t, 2, [other.url, replica.url], { limits: LIMITS });
  const [first, second] = services;
  assert.ok(first !== undefined && second !== undefined);
  let account = 2;
  while ((await findOwner(countsKey(`account ${account}`), servers)) !== gone) account++;
  for (let number = 2; number < account; number++) await first.issueKey({ account: `account ${number}` });
  const key = await first.issueKey({ account: `account ${account}`, limits: LIMITS });
  // On a busy machine an answer may come too late, so that the service gives a share: another request then asks again.
  const askShared = async ({ url }: TestService) => {
    for (let sent = 1; ; sent++) {
      const { headers } = await call(url, '/v1/pets', { key });
      if (headers.get('x-ratelimit-limit') === '60')
        return { sent, remaining: Number(headers.get('x-ratelimit-remaining')) };
    }
  };
  let before = LIMITS.perMinute;
  for (let request = 0; request < 10; request++) before = (await askShared(first)).remaining;
  assert.ok(before <= 50);
  await gone.kill();
  assert.equal((await call(first.url, '/v1/pets', { key })).headers.get('x-ratelimit-limit'), '30');
  await ask(replica.url, ['CONFIG', 'SET', 'cluster-replica-no-failover', 'no']);
  const said = ({ log }: TestService, message: string, { port }: TestServer) =>
    log.some(({ msg, server }) => msg === message && server === `127.0.0.1:${port}`);
  await until(() => services.every((each) => said(each, LOST, gone) && said(each, BACK, replica)));
  const { sent, remaining } = await askShared(second);
  assert.ok(remaining < before && remaining >= before - sent, `${remaining} after ${before} and ${sent}`);
});

test('a caller whose slot moves to another server keeps its counts', async (t) => {
  const servers = await temporaryCluster(t);
  const any = servers[0]?.url ?? '';
  const counter = newLimiter(await connected(t, any), fakeClock(), { banAfter: 100, banSeconds: 300 });
  const caller = { kind: 'address', address: '192.0.2.1', limits: LIMITS } as const;
  const remaining = async () => (await counter.charge(caller)).quota.minute.remaining;
  assert.equal(await remaining(), 59);
  const key = countsKey('address 192.0.2.1');
  const [from, to] = await moveBetween(key, servers);
  const move = await beginMove(key, from, to);
  assert.equal(await remaining(), 58);
  await ask(from.url, ['MIGRATE', '127.0.0.1', `${to.port}`, key, '0', '1000']);
  assert.equal(await remaining(), 57);
  await move.finish();
  assert.equal(await remaining(), 56);
  assert.equal(counter.serverOf(caller), `127.0.0.1:${to.port}`);
});

test('an account that is being moved between two servers is no outage of either', async (t) => {
  const servers = await temporaryCluster(t);
  const counter = newLimiter(await connected(t, servers[0]?.url ?? ''), fakeClock(), {
    banAfter: 9,
    banSeconds: 9,
  });
  assert.equal((await counter.charge(keyCaller(1))).quota.minute.remaining, 59);
  const key = countsKey('account 1');
  const [from, to] = await moveBetween(key, servers);
  const move = await beginMove(key, from, to);
  await assert.rejects(counter.charge(keyCaller(1)), NoAnswer);
  await ask(from.url, ['MIGRATE', '127.0.0.1', `${to.port}`, key, '0', '1000']);
  await move.finish();
  assert.equal((await counter.charge(keyCaller(1))).quota.minute.remaining, 58);
});
