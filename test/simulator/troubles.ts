import { SECOND } from '../../src/domain/clock.ts';
import { ROOT } from '../support/store.ts';
import type { Random } from '../support/random.ts';
import { PROMPT } from './endpoints.ts';
import { INSTANCES, QUICK, type World } from './world.ts';

type Wait = (least: number, most: number) => Promise<void>;

/** One of the things that can happen to Redis. Resolves when it is over. */
function pickRedisTrouble(world: World, random: Random): (wait: Wait) => Promise<void> {
  const { redis, redisNetwork, links } = world;
  const server = random.pick(redis.servers);
  const silence = async (wait: Wait) => {
    redisNetwork.silent.add(server.name);
    await wait(0.1, 8);
    redisNetwork.silent.delete(server.name);
  };
  const all: ((wait: Wait) => Promise<void>)[] = [
    silence,
    async (wait) => {
      redisNetwork.slowness = random.between(20, 200);
      await wait(0.2, 5);
      redisNetwork.slowness = QUICK;
    },
    async (wait) => {
      redisNetwork.loss = random.between(0.02, 0.3);
      await wait(0.2, 5);
      redisNetwork.loss = 0;
    },
    async (wait) => {
      const { process } = random.pick(world.instances);
      redisNetwork.cutOff.add(process);
      if (random.chance(0.5)) links.get(process)?.cut();
      await wait(0.2, 8);
      redisNetwork.cutOff.delete(process);
    },
    async (wait) => {
      const withData = random.chance(0.5);
      server.stop();
      await wait(0.1, 6);
      server.start({ withData });
    },
  ];
  if (world.isClustered)
    all.push(
      async (wait) => {
        const target = random.pick(redis.servers.filter(({ name }) => name !== server.name));
        const isSilent = random.chance(0.5);
        if (isSilent) redisNetwork.silent.add(server.name);
        await wait(0, 3);
        redis.failOver(server.name, target.name, { withData: random.chance(0.7) });
        await wait(0.1, 4);
        redisNetwork.silent.delete(server.name);
      },
      async (wait) => {
        const target = random.pick(redis.servers.filter(({ name }) => name !== server.name));
        redis.isolate(server.name);
        redis.failOver(server.name, target.name, { withData: true });
        await wait(0.1, 4);
        redis.rejoin(server.name);
      },
      async (wait) => {
        redis.loseSlots(server.name);
        await wait(0.1, 5);
        redis.takeLostSlots(server.name);
      },
    );
  return random.pick(all);
}

/** Troubles at a time. */
const AT_ONCE = 2;

/** Makes what the plan names go wrong until `isOver`. Then everything is well again. */
export async function makeTrouble(world: World, isOver: () => boolean): Promise<void> {
  const all = Array.from({ length: AT_ONCE }, (_, number) => makeSome(world, `troubles ${number}`, isOver));
  await Promise.all(all);
}

async function makeSome(world: World, stream: string, isOver: () => boolean): Promise<void> {
  const { plan, scheduler, disk, endpoints } = world;
  const random = world.random(stream);
  const wait = (least: number, most: number) => scheduler.wait(random.between(least, most) * SECOND);
  const pick = () => random.whole(0, INSTANCES - 1);
  const makers: Readonly<Record<string, () => Promise<void>>> = {
    async kill() {
      // Often the one that sends, because it has most under way.
      const sends = world.instances.findIndex(
        ({ process }) => process === endpoints.received.at(-1)?.process,
      );
      const index = sends !== -1 && random.chance(0.5) ? sends : pick();
      if (world.instances[index]?.isServing !== true) return;
      world.kill(index);
      await wait(0.1, random.pick([3, 16]));
      // A full disk lets no instance start.
      while (!(await world.start(index))) await scheduler.wait(SECOND);
    },
    async stall() {
      const { process } = world.instances[pick()] as (typeof world.instances)[number];
      const trouble = world.begin('stall', process);
      process.stalledUntil = scheduler.now + random.between(0.05, 6) * SECOND;
      await scheduler.wait(process.stalledUntil - scheduler.now);
      trouble.end();
    },
    async disk() {
      const trouble = world.begin('disk');
      if (random.chance(0.5)) disk.isFull = true;
      else disk.slowness = random.between(50, 1_500);
      await wait(0.2, 4);
      disk.isFull = false;
      disk.slowness = 4;
      await scheduler.wait(SECOND);
      trouble.end();
    },
    async redis() {
      const trouble = world.begin('redis');
      await pickRedisTrouble(world, random)(wait);
      trouble.end();
    },
    async operator() {
      const { id } = world.accounts.rival;
      // Another one would end this suspension.
      if (world.isSuspending) return;
      world.isSuspending = true;
      const store = await world.openStore();
      // A full disk refuses the change.
      const suspend = (suspended: boolean) =>
        store.accounts.change(ROOT, id, { suspended }).then(
          (result) => 'value' in result,
          () => false,
        );
      try {
        if (!(await suspend(true))) return;
        const from = scheduler.now;
        await wait(0.1, 2);
        world.history.suspensions.push({ accountId: id, from, to: scheduler.now });
        while (!(await suspend(false))) await wait(0.1, 0.5);
      } finally {
        world.isSuspending = false;
        await store.close();
      }
    },
    async endpoints() {
      // Some fail, and some take their time.
      endpoints.failing = random.pick([0, random.next()]);
      endpoints.slowness = random.pick([endpoints.slowness, 6 * SECOND]);
      await wait(0.5, 9);
      endpoints.failing = 0;
      endpoints.slowness = PROMPT;
    },
    async clock() {
      const { process } = world.instances[pick()] as (typeof world.instances)[number];
      world.begin('clock', process);
      process.offset += random.between(-20, 20) * SECOND;
    },
    async network() {
      const trouble = world.begin('network');
      world.loss = random.between(0.05, 0.5);
      await wait(0.2, 4);
      world.loss = 0;
      trouble.end();
    },
  };
  const kinds = plan.troubles.filter((kind) => kind in makers);
  if (kinds.length === 0) return;
  while (!isOver()) {
    await wait(0.2, 3);
    const kind = random.pick(kinds);
    await makers[kind]?.();
  }
}
