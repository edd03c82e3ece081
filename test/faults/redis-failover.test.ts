// A primary of a Redis Cluster hands its hash slots to a server that is slow or silent. Contract: section 6.
// The instances are processes of their own: one that hangs must not hang the tests.
import assert from 'node:assert/strict';
import { withTimeout } from '../../src/limits/timeout.ts';
import { assertRateHeaders, call } from '../support/api.ts';
import { issueKey } from '../support/instances.ts';
import { type RunningService, startServiceProcess, temporaryEnvironment } from '../support/process.ts';
import { announceProxy, ask, findOwner, temporaryCluster, temporaryReplica } from '../support/redis.ts';
import type { TestServer } from '../support/servers.ts';
import { BACK } from '../support/shared-counting.ts';
import { until } from '../support/until.ts';
import type { Fault } from '../support/tcp-proxy.ts';
import { test } from '../support/test.ts';

const LIMITS = { perMinute: 60, perDay: 1_000 };

const INSTANCES = 2;

/** Milliseconds in which an instance answers, on a busy machine too. */
const PATIENCE = 10_000;

const silences: Readonly<Record<string, Fault>> = {
  'answers late': { delay: () => 200 },
  'does not answer': 'one way',
};

/** Whether an instance has logged a message about a server. */
function hasLogged(service: RunningService, message: string, server: string): boolean {
  return service
    .stdout()
    .split('\n')
    .some((line) => line.includes(`"${message}"`) && line.includes(`"${server}"`));
}

for (const [what, fault] of Object.entries(silences)) {
  test(`requests are answered while a primary hands its slots to a server that ${what}`, async (t) => {
    const servers = await temporaryCluster(t);
    const [gone, other] = servers;
    assert.ok(gone !== undefined && other !== undefined);
    const replica = await temporaryReplica(t, gone);
    const proxy = await announceProxy(t, replica, servers);
    const env = { ...temporaryEnvironment(t), REDIS_URL: other.url, BAN_AFTER: '10000' };
    const callers: { readonly key: string; readonly owner: TestServer; admitted: number }[] = [];
    for (let number = 1; number <= 12; number++) {
      const { key } = await issueKey(env, { account: `account ${number}`, limits: LIMITS });
      const owner = await findOwner(`petstore:production:{account ${number}}:usage`, servers);
      callers.push({ key, owner, admitted: 0 });
    }
    const moved = callers.filter(({ owner }) => owner === gone);
    assert.ok(moved.length > 0 && moved.length < callers.length);
    const services: RunningService[] = [];
    for (let number = 0; number < INSTANCES; number++) services.push(await startServiceProcess(t, env));
    const sharing = (service: RunningService) =>
      servers.every(({ port }) => hasLogged(service, 'instances share the counter', `127.0.0.1:${port}`));
    await until(() => services.every(sharing));

    const send = async ({ url }: RunningService, caller: (typeof callers)[number]) => {
      const answer = await withTimeout(call(url, '/v1/pets', { key: caller.key }), PATIENCE);
      assert.ok(answer.status === 200 || answer.status === 429, `answered ${answer.status}`);
      assertRateHeaders(answer);
      if (answer.status === 200) caller.admitted++;
      return answer;
    };
    /** A request of each of these callers to each instance. Gives the limits that they were told. */
    const sendAll = async (some = callers) => {
      const limits = new Set<string | null>();
      for (const service of services)
        for (const caller of some) limits.add((await send(service, caller)).headers.get('x-ratelimit-limit'));
      return [...limits];
    };
    /** On a busy machine an answer of Redis may come too late, so that an instance gives a share: then it is asked again. */
    const untilShared = (some = callers) => until(async () => (await sendAll(some)).join() === '60');
    await untilShared();
    proxy.begin(fault);
    await ask(replica.url, ['CLUSTER', 'FAILOVER']);
    await until(async () => {
      await sendAll(moved);
      return (await ask<string[]>(replica.url, ['ROLE']))[0] === 'master';
    });
    for (let round = 0; round < 20; round++) await sendAll(moved);
    assert.deepEqual(await sendAll(moved), ['30']);
    await untilShared(callers.filter((caller) => !moved.includes(caller)));
    proxy.end();
    await until(() => services.every((service) => hasLogged(service, BACK, proxy.name)));
    for (let round = 0; round < 40; round++) await sendAll(moved);
    await untilShared();
    for (const { admitted } of moved)
      assert.ok(admitted >= 60 && admitted <= 60 + INSTANCES * 30, `${admitted} admitted`);
  });
}
