import { SECOND } from '../../src/domain/clock.ts';
import type { Call, FollowedEvent, Follower, WebhookChange } from './history.ts';
import type { Random } from '../support/random.ts';
import type { SimulatedAccount, SimulatedKey } from './template.ts';
import { INSTANCES, type Sent, type World } from './world.ts';

/** The most that a client waits between two requests, in milliseconds. */
const PAUSE = 500;

/** How often a client sends a request again whose answer it does not know. */
const MOST_TRIES = 4;

interface Body {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** What all clients know of animals and orders. They share it, so that they meet. */
interface Catalogue {
  /** The newest last. */
  readonly pets: { readonly id: number; version: number }[];
  readonly orders: { readonly id: number; readonly accountId: number }[];
  /** Names that no two animals share. */
  names: number;
}

/** Requests that clients may still send. */
class Steps {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  take(): boolean {
    return this.#left-- > 0;
  }

  get areLeft(): boolean {
    return this.#left > 0;
  }
}

/** Runs all clients until their steps are used up. Returns what lets those that follow the feed come to its end. */
export async function runClients(world: World): Promise<() => Promise<unknown>> {
  const catalogue: Catalogue = { pets: [], orders: [], names: 0 };
  const steps = new Steps(world.plan.steps);
  const { shop, rival, small, tiny, reserve, steady } = world.accounts;
  const clients = [
    keepCatalogue(new Client(world, 'keeper 1', shop, steps), catalogue),
    keepCatalogue(new Client(world, 'keeper 2', shop, steps), catalogue),
    keepCatalogue(new Client(world, 'keeper 3', rival, steps), catalogue),
    keepWebhooks(new Client(world, 'webhooks', shop, steps)),
    useUp(new Client(world, 'caller 1', small, steps)),
    useUp(new Client(world, 'caller 2', small, steps)),
    useUp(new Client(world, 'caller 3', tiny, steps)),
    callSteadily(new Client(world, 'caller 4', steady, steps)),
    lurk(new Client(world, 'lurker', reserve, steps)),
  ];
  const followers = [shop, rival].map((account) =>
    follow(new Client(world, `follower ${account.name}`, account, steps)),
  );
  await Promise.all(clients);
  return () => Promise.all(followers.map(({ end }) => end()));
}

class Client {
  readonly world: World;
  readonly name: string;
  readonly account: SimulatedAccount;
  readonly steps: Steps;
  readonly random: Random;

  constructor(world: World, name: string, account: SimulatedAccount, steps: Steps) {
    this.world = world;
    this.name = name;
    this.account = account;
    this.steps = steps;
    this.random = world.random(name);
  }

  pause(most = PAUSE): Promise<void> {
    return this.world.scheduler.wait(this.random.between(0, most) * this.world.pace);
  }

  get key(): SimulatedKey {
    return this.random.pick(this.account.keys);
  }

  /** Sends a request to any instance. */
  async send(
    request: Sent['request'],
    key = this.key,
    instance = this.random.whole(0, INSTANCES - 1),
  ): Promise<Call> {
    const call = await this.world.send(instance, { client: this.name, key, request });
    // As a client does that cannot connect.
    if (call.answer === undefined) await this.pause(SECOND);
    return call;
  }

  /** Sends a request again, with the same Idempotency-Key, until its answer is known. */
  async sendOnce(request: Sent['request']): Promise<Call> {
    const headers = {
      ...request.headers,
      'idempotency-key': `${this.name.replace(' ', '-')}-${this.random.whole(0, 1e15)}`,
    };
    const { key } = this;
    for (let tries = 1; ; tries++) {
      const call = await this.send({ ...request, headers }, key);
      const isKnown = call.answer !== undefined && call.answer.status < 500 && call.answer.status !== 409;
      // Also sent again when it is known, because a repeated request must change nothing.
      if (tries === MOST_TRIES || (isKnown && this.random.chance(0.8))) return call;
      await this.pause(SECOND);
    }
  }
}

async function keepCatalogue(client: Client, catalogue: Catalogue): Promise<void> {
  const { random, steps, world } = client;
  /** The newest ones are wanted by all. */
  const pickPet = () => catalogue.pets.at(-random.whole(1, Math.min(5, catalogue.pets.length)));
  const note = (call: Call) => {
    const version = readVersion(call);
    const body = call.answer?.body as Body | undefined;
    const pet = catalogue.pets.find(({ id }) => id === body?.id);
    if (pet !== undefined && version !== undefined) pet.version = Math.max(pet.version, version);
  };
  while (steps.take()) {
    await client.pause();
    const action = random.next();
    const pet = pickPet();
    if (action < 0.25 || pet === undefined) {
      const number = ++catalogue.names;
      const body = {
        name: `Rex ${number}`,
        categoryId: random.pick(world.categories),
        status: 'available',
        // One with a reference is written alone.
        ...(number % 3 === 0 && { tags: [`tag ${number}`], reference: `A${number}` }),
      };
      const request = { method: 'POST', path: '/v1/pets', body } as const;
      const call = await (random.chance(0.5) ? client.sendOnce(request) : client.send(request));
      if (call.answer?.status === 201) catalogue.pets.push({ id: (call.answer.body as Body).id, version: 1 });
    } else if (action < 0.45) {
      const headers = random.chance(0.8) ? { 'if-match': `"${pet.version}"` } : {};
      note(
        await client.send({
          method: 'PATCH',
          path: `/v1/pets/${pet.id}`,
          body: { name: `Rex ${++catalogue.names}`, color: `color ${catalogue.names}` },
          headers,
        }),
      );
    } else if (action < 0.6) note(await client.send({ method: 'GET', path: `/v1/pets/${pet.id}` }));
    else if (action < 0.85) {
      const request = { method: 'POST', path: '/v1/store/orders', body: { petId: pet.id } } as const;
      const call = await (random.chance(0.5) ? client.sendOnce(request) : client.send(request));
      if (call.answer?.status === 201)
        catalogue.orders.push({ id: (call.answer.body as Body).id, accountId: client.account.id });
    } else {
      const own = catalogue.orders.filter(({ accountId }) => accountId === client.account.id);
      const order = own.at(-random.whole(1, Math.min(4, own.length)));
      if (order === undefined) continue;
      const path = `/v1/store/orders/${order.id}`;
      if (random.chance(0.5)) await client.send({ method: 'DELETE', path });
      else await client.sendOnce({ method: 'POST', path: `${path}/complete` });
    }
  }
}

/** The version that an `ETag` names. */
export function readVersion({ answer }: Call): number | undefined {
  const match = /^(?:W\/)?"(\d+)"$/.exec(answer?.headers['etag'] ?? '');
  return match === null ? undefined : Number(match[1]);
}

async function keepWebhooks(client: Client): Promise<void> {
  const { random, steps, world } = client;
  const { webhookChanges } = world.history;
  const ids: number[] = [];
  const note = (
    { process, began, ended }: Call,
    change: Omit<WebhookChange, 'process' | 'began' | 'ended'>,
  ) => webhookChanges.push({ ...change, process, began, ended });
  while (steps.areLeft) {
    await client.pause(0.6 * SECOND);
    const action = random.next();
    const webhookId = random.pick(ids);
    const path = `/v1/webhooks/${webhookId}`;
    if (webhookId === undefined || (action < 0.4 && ids.length < 6)) {
      const types = random.pick([['*'], ['pet.*'], ['order.*']]);
      const body = { url: `https://endpoint.example/${ids.length}`, types };
      const call = await client.send({ method: 'POST', path: '/v1/webhooks', body });
      if (call.answer?.status !== 201) continue;
      const { id, secret } = call.answer.body as Body;
      ids.push(id);
      note(call, { webhookId: id, kind: 'created', secret: String(secret) });
    } else if (action < 0.6) {
      const call = await client.send({ method: 'PATCH', path, body: { enabled: false } });
      if (call.answer?.status === 200) note(call, { webhookId, kind: 'disabled' });
      await client.pause(SECOND);
      // Sent until it is known, because what a disabled endpoint misses is not in the history.
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const again = await client.send({ method: 'PATCH', path, body: { enabled: true } });
        // One whose answer is lost may have been done.
        note(again, { webhookId, kind: 'enabled' });
        if (again.answer?.status === 200) break;
        await client.pause(SECOND);
      }
    } else if (action < 0.85) {
      const call = await client.send({ method: 'POST', path: `${path}/rotate` });
      const secret = (call.answer?.body as Body | undefined)?.['secret'];
      if (call.answer?.status === 200) note(call, { webhookId, kind: 'rotated', secret: String(secret) });
    } else {
      const call = await client.send({ method: 'DELETE', path });
      ids.splice(ids.indexOf(webhookId), 1);
      if (call.answer?.status === 204) note(call, { webhookId, kind: 'deleted' });
    }
  }
}

/** Calls in bursts, more often than the limits allow, also to be banned. */
async function useUp(client: Client): Promise<void> {
  while (client.steps.take()) {
    await client.pause(1.5 * SECOND);
    await callAtOnce(client, client.random.pick([2, 4, 12]), client.random.chance(0.5));
  }
}

/** Calls all the time, and uses up a minute in half of it. */
async function callSteadily(client: Client): Promise<void> {
  while (client.steps.areLeft) {
    await client.world.scheduler.wait(client.random.between(0, 2 * SECOND));
    await callAtOnce(client, 1, false);
  }
}

/** Sends nothing until Redis has been in trouble for some time, and then as much as one instance may admit. */
async function lurk(client: Client): Promise<void> {
  const { scheduler, history } = client.world;
  const isOutage = () =>
    history.troubles.some(
      ({ kind, from, to }) => kind === 'redis' && from < scheduler.now - SECOND && to > scheduler.now,
    );
  while (client.steps.areLeft) {
    await scheduler.wait(SECOND / 2);
    if (!isOutage()) continue;
    await callAtOnce(client, client.account.limits.perMinute, true);
    // A new minute.
    for (let passed = 0; passed < 61 && client.steps.areLeft; passed++) await scheduler.wait(SECOND);
  }
}

async function callAtOnce(client: Client, count: number, isOneInstance: boolean): Promise<void> {
  const { key, random } = client;
  const instance = isOneInstance ? random.whole(0, INSTANCES - 1) : undefined;
  const calls = Array.from({ length: count }, async () => {
    await client.world.scheduler.wait(random.between(0, 100));
    await client.send({ method: 'GET', path: '/v1/pets?limit=1' }, key, instance);
  });
  await Promise.all(calls);
}

/** Follows the feed of an account from its oldest event, until `end`, and then to its last one. */
function follow(client: Client) {
  const { random, world } = client;
  const follower: Follower = { name: client.name, accountId: client.account.id, events: [] };
  world.history.followers.push(follower);
  let path = '/v1/events?limit=50';
  let isEnding = false;
  const run = async () => {
    for (;;) {
      const isLast = isEnding;
      const wait = isLast ? 0 : random.whole(0, 8);
      const call = await client.send({ method: 'GET', path: `${path}&wait=${wait}` });
      if (call.answer?.status !== 200) {
        await client.pause(SECOND);
        continue;
      }
      const events = call.answer.body as readonly FollowedEvent[];
      if (isLast && events.length === 0) return;
      follower.events.push(...events);
      const next = /<([^>]*)>; ?rel="next"/.exec(call.answer.headers['link'] ?? '')?.[1];
      if (next === undefined) throw new Error('A page of the feed has no next one.');
      const { pathname, searchParams } = new URL(next);
      searchParams.delete('wait');
      path = `${pathname}?${searchParams.toString()}`;
    }
  };
  const running = run();
  return {
    end: () => {
      isEnding = true;
      return running;
    },
  };
}
