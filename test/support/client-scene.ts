// Contract: section 6.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { PetStore, type PetStoreOptions } from '../../client/src/index.ts';
import type { ClientRuntime } from '../../client/src/runtime.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { fakeClock } from './clock.ts';
import { type Fault, startFaultProxy } from './fault-proxy.ts';
import { startTestService, type TestService } from './service.ts';
import { type SimulatedTime, simulatedTime } from './simulated-time.ts';

export const MINUTE = 60_000;

/** A request as the service saw it. */
export interface Seen {
  readonly by: ClientRuntime;
  readonly at: number;
  readonly status: number;
  readonly code: string | undefined;
  /** When a refused client may come back. */
  readonly until: number;
}

/** Clients and the real service in simulated time. */
export interface Scene {
  readonly time: SimulatedTime;
  readonly service: TestService;
  /** What the service saw, in its order. */
  readonly seen: readonly Seen[];
  /** A client in simulated time. */
  client(by: ClientRuntime, options: Pick<PetStoreOptions, 'apiKey'> & Partial<PetStoreOptions>): PetStore;
}

/** A service, and a client of it in real time. */
export async function startClient(t: TestContext, options: PetStoreOptions = {}) {
  const service = await startTestService(t);
  const apiKey = await service.issueKey({ scopes: SCOPES });
  const client = new PetStore({ apiKey, baseUrl: `${service.url}/v1`, ...options });
  return { service, apiKey, client };
}

/** A client in simulated time, a network whose first requests meet these faults, and the service behind it. */
export async function unlucky(
  t: TestContext,
  faults: readonly Fault[],
  options: Partial<PetStoreOptions> = {},
) {
  const clock = fakeClock();
  const time = simulatedTime(clock);
  const service = await startTestService(t, { clock });
  const apiKey = await service.issueKey({ scopes: SCOPES });
  const sentAt: number[] = [];
  const proxy = await startFaultProxy(t, service.url, (before) => {
    sentAt.push(time.now());
    return faults[before];
  });
  const client = new PetStore(
    { apiKey, baseUrl: `${proxy.url}/v1`, fetch: time.delayed(fetch), ...options },
    time.surroundings(),
  );
  /** Milliseconds from one request to the next. */
  const gaps = () => sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  return { time, service, apiKey, proxy, client, gaps };
}

/** How many requests the service was sent. */
export function requestsOf(service: TestService): number {
  return service.log.filter(({ msg }) => msg === 'request').length;
}

export async function clientScene(t: TestContext, env: Record<string, string> = {}): Promise<Scene> {
  const clock = fakeClock();
  const time = simulatedTime(clock);
  const service = await startTestService(t, { clock, env });
  const seen: Seen[] = [];
  return {
    time,
    service,
    seen,
    client(by, options) {
      const watched: typeof fetch = async (...request) => {
        const response = await fetch(...request);
        const at = time.now();
        const code = response.ok ? undefined : ((await response.clone().json()) as { code: string }).code;
        const until = at + Number(response.headers.get('retry-after')) * 1000;
        seen.push({ by, at, status: response.status, code, until });
        return response;
      };
      return new PetStore({ baseUrl: `${service.url}/v1`, fetch: time.delayed(watched), ...options }, by);
    },
  };
}

/** Each client lists as fast as it may, until time is up. */
export async function keepListing(
  { time }: Scene,
  clients: readonly PetStore[],
  duration: number,
): Promise<void> {
  const over = new AbortController();
  const work = clients.map(async (client) => {
    while (!over.signal.aborted) await client.pets.list({}, { signal: over.signal });
  });
  const settled = Promise.allSettled(work);
  await time.run(duration);
  over.abort();
  await time.run(settled);
  for (const result of await settled) {
    if (result.status === 'rejected') assert.equal(result.reason.cause, over.signal.reason);
  }
}

/** The most refusals within any 60 s: a hundred get a key banned. */
export function mostRefusals(seen: readonly Seen[]): number {
  const refused = seen.filter(({ status }) => status === 429);
  return Math.max(
    0,
    ...refused.map(({ at }) => refused.filter((other) => at - other.at < MINUTE && other.at <= at).length),
  );
}

/** Requests of the same process that came although it had been told to wait. */
export function insideRetryAfter(seen: readonly Seen[]): Seen[] {
  return seen.filter((request, index) =>
    seen
      .slice(0, index)
      .some(({ by, status, until }) => status === 429 && by === request.by && request.at < until),
  );
}

/** How many requests were admitted. */
export function admitted(seen: readonly Seen[]): number {
  return seen.filter(({ status }) => status === 200).length;
}

/** Lets time pass until the call is over. */
export async function settle<Result>(time: SimulatedTime, call: Promise<Result>): Promise<Result> {
  const settled = Promise.resolve(call);
  await time.run(settled);
  return settled;
}

/** The error with which the call fails. */
export async function rejection(time: SimulatedTime, call: Promise<unknown>): Promise<any> {
  const [result] = await settle(time, Promise.allSettled([call]));
  assert.equal(result.status, 'rejected', 'the call must fail');
  return result.reason;
}
