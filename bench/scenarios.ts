import { encodeCursor } from '../src/domain/cursor.ts';
import type { BenchRequest } from './request.ts';

/** What a scenario knows of the service: a key whose limits are never reached, and how many animals there are. */
export interface Target {
  readonly key: string;
  /** Their ids are 1 to this number. */
  readonly animals: number;
}

export interface Scenario {
  readonly name: string;
  /** What every request must be answered with. */
  readonly status: number;
  /** Sent in turn, over and over. The bare server gives what the service gave to the first. */
  readonly requests: (target: Target) => readonly BenchRequest[];
}

const PAGE = 20;
const MAX_CURSORS = 10_000;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'list',
    status: 200,
    requests: ({ key }) => [get(`/v1/pets?limit=${PAGE}`, key)],
  },
  {
    name: 'filtered',
    status: 200,
    requests: ({ key }) => [get(`/v1/pets?limit=${PAGE}&status=available`, key)],
  },
  {
    name: 'walk',
    status: 200,
    // The cursors that a client gets from page to page, except that of the last page, which has no next one.
    requests: ({ key, animals }) =>
      Array.from({ length: Math.min(MAX_CURSORS, Math.ceil(animals / PAGE) - 2) }, (_, index) => {
        const cursor = encodeCursor(BigInt(animals + 1 - PAGE * (index + 1)));
        return get(`/v1/pets?limit=${PAGE}&cursor=${cursor}`, key);
      }),
  },
  {
    name: 'create',
    status: 201,
    requests: ({ key }) => [
      {
        method: 'POST',
        path: '/v1/pets',
        headers: { ...bearer(key), 'Content-Type': 'application/json' },
        body: '{"name":"Rex","categoryId":7,"status":"available"}',
      },
    ],
  },
];

function get(path: string, key: string): BenchRequest {
  return { method: 'GET', path, headers: bearer(key) };
}

function bearer(key: string): { Authorization: string } {
  return { Authorization: `Bearer ${key}` };
}
