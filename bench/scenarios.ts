import { ApiKey } from '../src/domain/api-key.ts';
import { type Call, create, get, list, mixed, order, PAGE, patch, walk } from './calls.ts';
import type { Goals } from './goals.ts';
import { type BenchRequest, NUMBER } from './request.ts';
import type { PreparedService, ServiceSettings } from './service.ts';

export interface Scenario extends ServiceSettings {
  readonly name: string;
  /**
   * The requests, sent in turn. Each number from 1 to `animals` replaces `NUMBER` in turn, but two numbers. The bare server
   * always sends the service's answer to the first request of the same kind.
   */
  readonly requests: (service: PreparedService) => readonly Call[];
  /** What to do with the stores first. */
  readonly prepare?: (service: PreparedService) => Promise<void>;
  /** Requests to send once before the measurement. Their answers do not matter. */
  readonly before?: (service: PreparedService) => readonly BenchRequest[];
  /** Whether answers wait for the disk, so that processor time does not show how long they take. */
  readonly synced?: boolean;
  readonly goals: Goals;
  /** Goals on PostgreSQL and Redis. By default, only scenarios with these goals are measured there. */
  readonly scaleGoals?: Goals;
}

const MAX_CURSORS = 10_000;

/** With fewer addresses, some would fail to authenticate more often than their limit allows at 50,000 requests a second. */
const ADDRESSES = 50_000;

/** A key in the right format that was never issued. The service must look it up to refuse it. */
const UNKNOWN_KEY = ApiKey.generate('production', (length) => new Uint8Array(length)).reveal();

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'list',
    requests: ({ key }) => [list(key)],
    goals: { ratio: 0.85, times: 2.5, p99: 3 },
    scaleGoals: { ratio: 0.35, times: 2 },
  },
  { name: 'logged', requests: ({ key }) => [list(key)], logged: true, goals: { ratio: 0.7 } },
  {
    name: 'filtered',
    requests: ({ key }) => [get(`/v1/pets?limit=${PAGE}&status=available`, key)],
    goals: { ratio: 0.85 },
  },
  { name: 'hundred', requests: ({ key }) => [get('/v1/pets?limit=100', key)], goals: { ratio: 0.8 } },
  { name: 'walk', requests: ({ key, animals }) => walk(animals, MAX_CURSORS, key), goals: { ratio: 0.5 } },
  { name: 'get', requests: ({ key }) => [get(`/v1/pets/${NUMBER}`, key)], goals: { ratio: 0.6 } },
  { name: 'ids', requests: ({ key, animals }) => byIds(animals, key), goals: {} },
  {
    name: 'unauthorized',
    env: { TRUST_PROXY: '127.0.0.1' },
    requests: () =>
      Array.from({ length: ADDRESSES }, (_, index) => {
        const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
        const request = list(UNKNOWN_KEY, 401);
        return { ...request, headers: { ...request.headers, 'X-Forwarded-For': address } };
      }),
    goals: { ratio: 0.8 },
  },
  {
    name: 'limited',
    // High enough that no key is banned.
    env: { BAN_AFTER: '10000' },
    before: ({ spentKeys }) => spentKeys.slice(0, 1).map((key) => list(key)),
    requests: ({ spentKeys }) => spentKeys.map((key) => list(key, 429)),
    goals: { ratio: 0.8 },
  },
  {
    name: 'banned',
    env: { BAN_AFTER: '1', BAN_SECONDS: '86400' },
    before: ({ spentKeys }) => spentKeys.slice(0, 1).flatMap((key) => [list(key), list(key, 429)]),
    requests: ({ spentKeys }) => spentKeys.slice(0, 1).map((key) => list(key, 429)),
    goals: { ratio: 0.8 },
  },
  {
    name: 'create',
    synced: true,
    requests: ({ key }) => [create(key)],
    goals: { ratio: 0.5, times: 6 },
    scaleGoals: { times: 2 },
  },
  {
    name: 'mixed',
    synced: true,
    requests: ({ key }) => mixed(key),
    goals: { ratio: 0.7, p99: 3 },
  },
  {
    name: 'patch',
    synced: true,
    // A name that `petstore seed` does not invent.
    requests: ({ key }) => [patch(key, '{"name":"Bruno"}')],
    goals: { ratio: 0.4, times: 4 },
  },
  {
    name: 'status',
    synced: true,
    prepare: ({ stores }) => stores.execute("UPDATE pets SET status = 'available'"),
    requests: ({ key }) => [patch(key, '{"status":"sold"}')],
    goals: { ratio: 0.4, times: 4 },
  },
  {
    // The last, because it sells the animals.
    name: 'order',
    // The end of each measurement leaves up to one open order a connection.
    env: { MAX_OPEN_ORDERS: '1000000' },
    synced: true,
    prepare: ({ stores }) => stores.execute("UPDATE pets SET status = 'available'"),
    requests: ({ key }) => order(key),
    goals: { ratio: 0.3, times: 4 },
  },
];

/** Pages of 100 random animals by their ids. */
function byIds(animals: number, key: string): readonly Call[] {
  return Array.from({ length: 1_000 }, () => {
    const ids = Array.from({ length: 100 }, () => `&id=${1 + Math.floor(Math.random() * animals)}`);
    return get(`/v1/pets?limit=100${ids.join('')}`, key);
  });
}
