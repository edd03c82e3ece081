import { SECOND } from '../../src/domain/clock.ts';
import { CHECKERS, findUndelivered } from './checkers.ts';
import { runClients } from './clients.ts';
import type { Report } from './runner.ts';
import type { Template } from './template.ts';
import { makeTrouble } from './troubles.ts';
import { INSTANCES, type Plan, World } from './world.ts';

/** Milliseconds after the last request in which everything comes to rest: longer than two leases of a webhook. */
const REST = 50 * SECOND;

/** Milliseconds of the run after which somebody must be stuck. */
const LONGEST = 600 * SECOND;

/** Runs a plan. While it runs, nothing else may run in this thread. */
export async function simulate(plan: Plan, template: Template, folder: string): Promise<Report> {
  const world = new World(plan, template, folder);
  const { scheduler } = world;
  scheduler.install();
  const faults: string[] = [];
  try {
    let isOver = false;
    const work = (async () => {
      for (let index = 0; index < INSTANCES; index++) await world.start(index);
      let areClientsDone = false;
      const clients = runClients(world).finally(() => (areClientsDone = true));
      await makeTrouble(world, () => areClientsDone);
      const endFollowers = await clients;
      const end = scheduler.now + REST;
      do await scheduler.wait(2 * SECOND);
      while (scheduler.now < end && findUndelivered(world, scheduler.unix).length > 0);
      await endFollowers();
    })();
    work.then(
      () => (isOver = true),
      (error: Error) => {
        faults.push(`progress: ${error.stack}`);
        isOver = true;
      },
    );
    if (!(await scheduler.run(() => isOver, LONGEST)))
      faults.push('progress: the clients do not come to an end');
  } catch (error) {
    faults.push(`progress: ${(error as Error).message}`);
  } finally {
    // Before the real timers are back: what an ended process does would reach into the next run.
    for (const instance of world.instances) instance.kill();
    await scheduler.uninstall();
  }
  try {
    for (const [name, check] of Object.entries(CHECKERS))
      faults.push(...check(world).map((fault) => `${name}: ${fault}`));
    return { faults, trace: writeTrace(world), tasks: scheduler.tasks, reached: findReached(world) };
  } finally {
    world.close();
  }
}

function findReached(world: World): readonly string[] {
  const types = world.read<{ type: string }>('SELECT DISTINCT type FROM events').map(({ type }) => type);
  const { history, endpoints } = world;
  const statuses = history.calls.map(({ request, answer }) => `${request.method} ${answer?.status}`);
  const messages = endpoints.received.map(({ status }) => `message ${status}`);
  return [...new Set([...types, ...statuses, ...messages, ...history.troubles.map(({ kind }) => kind)])];
}

/** SQLite draws the ids of events, so no seed decides them. */
const EVENT_ID = /\b[\da-f]{32}\b/g;

/** All that clients, endpoints and Redis have of a run: everything that is drawn shows in it. */
function writeTrace({ endpoints, history, redis, scheduler }: World): string {
  const lines = [
    [scheduler.tasks, scheduler.now],
    ...history.calls.map(({ client, began, ended, answer }) => ({
      client,
      began,
      ended,
      status: answer?.status,
      body: answer?.body,
    })),
    ...endpoints.received.map(({ process, ...message }) => ({ ...message, process: process.name })),
    ...redis.servers.map(({ keys }) => keys.dump()),
  ];
  return lines.map((line) => JSON.stringify(line).replaceAll(EVENT_ID, 'event')).join('\n');
}
