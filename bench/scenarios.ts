import { ApiKey } from '../src/domain/api-key.ts';
import { encodeCursor } from '../src/domain/cursor.ts';
import type { Goals } from './goals.ts';
import { type BenchRequest, NUMBER } from './request.ts';

/** What a scenario knows of the service. */
export interface Target {
  /** A key whose limits are never reached. */
  readonly key: string;
  /** Keys of one account that may make one request a day. */
  readonly spentKeys: readonly string[];
  /** How many animals there are: their ids are 1 to this number. */
  readonly animals: number;
}

/** A request and the status that it must be answered with. */
export interface ScenarioRequest extends BenchRequest {
  readonly status: number;
}

export interface Scenario {
  readonly name: string;
  /**
   * Sent in turn, over and over. Where `NUMBER` stands in one, each number from 1 to `animals` stands in its turn. The
   * bare server gives what the service gave to the first request of the same method.
   */
  readonly requests: (target: Target) => readonly ScenarioRequest[];
  /** Sent once before, whatever the answer. */
  readonly before?: (target: Target) => readonly BenchRequest[];
  /** Of the service's configuration, what differs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether each request is logged (`LOG_LEVEL=info`), to a pipe that is read. */
  readonly logged?: boolean;
  readonly goals: Goals;
  /** With PostgreSQL and Redis; without, the scenario is measured there only when it is asked for. */
  readonly scaleGoals?: Goals;
}

const PAGE = 20;
const MAX_CURSORS = 10_000;

/** So many that none fails to authenticate more often than its bucket allows, at 50,000 requests a second (decisions §6). */
const ADDRESSES = 50_000;

/** Of the format, with the right checksum, and never issued: it takes a look-up to refuse it. */
const UNKNOWN_KEY = ApiKey.generate('production', (length) => new Uint8Array(length)).reveal();

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'list',
    requests: ({ key }) => [get(`/v1/pets?limit=${PAGE}`, key)],
    goals: { ratio: 0.85, timesBest: 2.5, p99: 3 },
    scaleGoals: { ratio: 0.35, timesBest: 2 },
  },
  {
    name: 'logged',
    requests: ({ key }) => [get(`/v1/pets?limit=${PAGE}`, key)],
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
    // The cursors that a client gets from page to page, except that of the last page, which has no next one.
    requests: ({ key, animals }) =>
      Array.from({ length: Math.min(MAX_CURSORS, Math.ceil(animals / PAGE) - 2) }, (_, index) => {
        const cursor = encodeCursor(BigInt(animals + 1 - PAGE * (index + 1)));
        return get(`/v1/pets?limit=${PAGE}&cursor=${cursor}`, key);
      }),
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
        const request = get(`/v1/pets?limit=${PAGE}`, UNKNOWN_KEY, 401);
        return { ...request, headers: { ...request.headers, 'X-Forwarded-For': address } };
      }),
    goals: { ratio: 0.8 },
  },
  {
    name: 'limited',
    // So many keys in turn that none is refused often enough to be banned.
    env: { BAN_AFTER: '10000' },
    before: ({ spentKeys }) => spentKeys.slice(0, 1).map((key) => get('/v1/pets', key)),
    requests: ({ spentKeys }) => spentKeys.map((key) => get(`/v1/pets?limit=${PAGE}`, key, 429)),
    goals: { ratio: 0.8 },
  },
  {
    name: 'banned',
    env: { BAN_AFTER: '1', BAN_SECONDS: '86400' },
    before: ({ spentKeys }) =>
      spentKeys.slice(0, 1).flatMap((key) => [get('/v1/pets', key), get('/v1/pets', key)]),
    requests: ({ spentKeys }) => spentKeys.slice(0, 1).map((key) => get(`/v1/pets?limit=${PAGE}`, key, 429)),
    goals: { ratio: 0.8 },
  },
  {
    name: 'create',
    requests: ({ key }) => [create(key)],
    goals: { ratio: 0.5, timesBest: 5, timesSynced: 6 },
    scaleGoals: { timesBest: 2 },
  },
  {
    name: 'mixed',
    // After create, whose animals are those that the list shows meanwhile.
    requests: ({ key }) => [
      create(key),
      ...Array.from({ length: 19 }, () => get(`/v1/pets?limit=${PAGE}`, key)),
    ],
    goals: { ratio: 0.7, p99: 3 },
  },
];

function get(path: string, key: string, status = 200): ScenarioRequest {
  return { method: 'GET', path, headers: bearer(key), status };
}

function create(key: string): ScenarioRequest {
  return {
    method: 'POST',
    path: '/v1/pets',
    headers: { ...bearer(key), 'Content-Type': 'application/json' },
    body: '{"name":"Rex","categoryId":7,"status":"available"}',
    status: 201,
  };
}

function bearer(key: string): { Authorization: string } {
  return { Authorization: `Bearer ${key}` };
}
