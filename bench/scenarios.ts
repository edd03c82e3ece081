import { ApiKey } from '../src/domain/api-key.ts';
import { type Call, create, get, list, mixed, PAGE, walk } from './calls.ts';
import type { Goals } from './goals.ts';
import { type BenchRequest, NUMBER } from './request.ts';
import type { PreparedService } from './service.ts';

/** What a scenario knows of the service. */
export type Target = Pick<PreparedService, 'key' | 'spentKeys' | 'animals'>;

export interface Scenario {
  readonly name: string;
  /**
   * Sent in turn, over and over. Where `NUMBER` stands in one, each number from 1 to `animals` stands in its turn. The
   * bare server gives what the service gave to the first request of the same method.
   */
  readonly requests: (target: Target) => readonly Call[];
  /** Sent once before, whatever the answer. */
  readonly before?: (target: Target) => readonly BenchRequest[];
  /** Of the service's configuration, what differs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether each request is logged (`LOG_LEVEL=info`), to a pipe that is read. */
  readonly logged?: boolean;
  /** Whether answers wait for the disk, of which processor time tells nothing. */
  readonly synced?: boolean;
  readonly goals: Goals;
  /** With PostgreSQL and Redis; without, the scenario is measured there only when it is asked for. */
  readonly scaleGoals?: Goals;
}

const MAX_CURSORS = 10_000;

/** So many that none fails to authenticate more often than its bucket allows, at 50,000 requests a second (decisions §6). */
const ADDRESSES = 50_000;

/** Of the format, with the right checksum, and never issued: it takes a look-up to refuse it. */
const UNKNOWN_KEY = ApiKey.generate('production', (length) => new Uint8Array(length)).reveal();

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'list',
    requests: ({ key }) => [list(key)],
    goals: { ratio: 0.85, timesBest: 2.5, p99: 3 },
    scaleGoals: { ratio: 0.35, timesBest: 2 },
  },
  {
    name: 'logged',
    requests: ({ key }) => [list(key)],
    logged: true,
    goals: { ratio: 0.7 },
  },
  {
    name: 'filtered',
    requests: ({ key }) => [get(`/v1/pets?limit=${PAGE}&status=available`, key)],
    goals: { ratio: 0.85 },
  },
  {
    name: 'hundred',
    requests: ({ key }) => [get('/v1/pets?limit=100', key)],
    goals: { ratio: 0.8 },
  },
  {
    name: 'walk',
    requests: ({ key, animals }) => walk(animals, MAX_CURSORS, key),
    goals: { ratio: 0.5 },
  },
  {
    name: 'get',
    requests: ({ key }) => [get(`/v1/pets/${NUMBER}`, key)],
    goals: { ratio: 0.6 },
  },
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
    // No key is refused so often that it is banned.
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
    goals: { ratio: 0.5, timesBest: 5, timesSynced: 6 },
    scaleGoals: { timesBest: 2 },
  },
  {
    name: 'mixed',
    synced: true,
    // After create, whose animals are those that the list shows meanwhile.
    requests: ({ key }) => mixed(key),
    goals: { ratio: 0.7, p99: 3 },
  },
];
