// A cluster of the model redirects and refuses as a Redis Cluster does.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import type { Connection } from '../../src/limits/redis/connection.ts';
import { loadScript } from '../../src/limits/redis/redis.ts';
import { slotOf } from '../../src/limits/redis/slots.ts';
import { onClock, START } from '../limits/redis-fixture.ts';
import { lifetimeOfFile } from '../support/lifetime.ts';
import { ask, beginMove, temporaryCluster } from '../support/redis.ts';
import { startForFile, test } from '../support/test.ts';
import { RedisModel } from './redis-model.ts';
import { linkRedis } from './redis-network.ts';

const { cluster } = await startForFile(async () => ({ cluster: await temporaryCluster(lifetimeOfFile()) }));

const NOW = Date.parse(START);
const ONE = '{account 1}:one';
const OTHER = '{account 1}:other';
const MISSING = '{account 1}:missing';
const ELSEWHERE = '{account 2}:one';
const SLOT = slotOf(ONE);

/** A script that reads its keys. */
function read(...keys: readonly string[]): readonly string[] {
  return ['EVAL', loadScript('bans.lua').source, String(keys.length), ...keys];
}

const COMMANDS = [
  read(ONE),
  read(MISSING),
  read(ONE, OTHER),
  read(ONE, ONE),
  read(ONE, MISSING),
  read(ONE, ELSEWHERE),
  read(ELSEWHERE),
];

async function outcome(connection: Connection, command: readonly string[]): Promise<unknown> {
  try {
    return await connection.send(command);
  } catch (error) {
    return (error as Error).message;
  }
}

test('a cluster of the model redirects and refuses as Redis does while a slot moves and is lost', async (t) => {
  const names = cluster.map(({ port }) => `127.0.0.1:${port}`);
  const redis = new RedisModel({
    servers: names,
    isClustered: true,
    now: () => NOW,
    newRunId: () => 'run',
  });
  const link = linkRedis(redis);
  const servers = await Promise.all(
    cluster.map(async ({ url }) => {
      const address = parseRedisUrl(url);
      const real = onClock(() => NOW)(address, assert.ifError);
      const model = link.newConnection(address, assert.ifError);
      t.after(() => real.close());
      await Promise.all([real.connect(), model.connect()]);
      return { url, real, model };
    }),
  );
  const owners = async (connection: Connection) => {
    const ranges = (await connection.send(['CLUSTER', 'SLOTS'])) as [number, number, [string, number]][];
    return ranges.map(([from, to, [host, port]]) => [from, to, host, port]);
  };
  /** Compares all answers. Waits until each real server knows the slots. */
  const compare = async (when: string, compared = servers) => {
    for (const { real, model } of compared) {
      const expected = JSON.stringify(await owners(model));
      while (JSON.stringify(await owners(real)) !== expected) await wait(20);
    }
    for (const { url, real, model } of compared)
      for (const command of COMMANDS)
        for (const isAsking of [false, true]) {
          const [answer, answerOfModel] = await Promise.all(
            [real, model].map(async (connection) => {
              if (isAsking) await connection.send(['ASKING']);
              return outcome(connection, command);
            }),
          );
          const what = `${when}, ${url}, keys ${command.slice(3).join(' ')}${isAsking ? ', asking' : ''}`;
          assert.deepEqual(answerOfModel, answer, what);
        }
  };

  await compare('at first');
  const source = names.indexOf(redis.ownerOf(ONE)?.name ?? '');
  const [from, to] = [servers[source], servers[(source + 1) % servers.length]];
  const [realFrom, realTo] = [cluster[source], cluster[(source + 1) % cluster.length]];
  assert.ok(from && to && realFrom && realTo);
  for (const connection of [from.real, from.model])
    for (const key of [ONE, OTHER]) await connection.send(['HSET', key, 'until', '7', 'count', '1']);
  await compare('with keys');
  const move = await beginMove(ONE, realFrom, realTo);
  redis.beginMove(SLOT, names[(source + 1) % names.length] ?? '');
  await compare('before the first key moves');
  for (const [key, when] of [
    [ONE, 'when one key has moved'],
    [OTHER, 'when all keys have moved'],
  ] as const) {
    await ask(from.url, ['MIGRATE', '127.0.0.1', `${realTo.port}`, key, '0', '10000']);
    redis.moveKey(key);
    await compare(when);
  }
  await move.finish();
  redis.finishMove(SLOT);
  await compare('after the move');
  redis.loseSlot(SLOT);
  await ask(to.url, ['CLUSTER', 'DELSLOTS', `${SLOT}`]);
  // The others may still hear that this server has it.
  await compare('when no server has the slot', [to]);
});
