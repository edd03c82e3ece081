import { encodeCursor } from '../src/domain/cursor.ts';
import { type BenchRequest, CREATED, NUMBER } from './request.ts';

/** A request and the status that its answer must have. */
export interface Call extends BenchRequest {
  readonly status: number;
}

/** Animals on a page. */
export const PAGE = 20;

export function get(path: string, key: string, status = 200): Call {
  return { method: 'GET', path, headers: bearer(key), status };
}

/** The newest animals. */
export function list(key: string, status = 200): Call {
  return get(`/v1/pets?limit=${PAGE}`, key, status);
}

/** The page of the animals with ids below `id`. `filter` begins with `&`. */
export function pageBelow(id: number, key: string, filter = ''): Call {
  return get(`/v1/pets?limit=${PAGE}&cursor=${encodeCursor(BigInt(id))}${filter}`, key);
}

/**
 * At most `atMost` pages after the newest one, in the order in which a client reads a catalogue with the ids 1 to
 * `animals`. The last page is left out, because its answer names no next page.
 */
export function walk(animals: number, atMost: number, key: string): Call[] {
  const pages = Math.min(atMost, Math.ceil(animals / PAGE) - 2);
  return Array.from({ length: pages }, (_, index) => pageBelow(animals + 1 - PAGE * (index + 1), key));
}

export function create(key: string): Call {
  return {
    method: 'POST',
    path: '/v1/pets',
    headers: { ...bearer(key), 'Content-Type': 'application/json' },
    body: '{"name":"Rex","categoryId":7,"status":"available"}',
    status: 201,
  };
}

/** A change of one animal. */
export function patch(key: string, body: string): Call {
  return { ...create(key), method: 'PATCH', path: `/v1/pets/${NUMBER}`, body, status: 200 };
}

/** An order of one animal, which must be available, and its completion. */
export function order(key: string): Call[] {
  return [
    { ...create(key), path: '/v1/store/orders', body: `{"petId":${NUMBER}}` },
    { method: 'POST', path: `/v1/store/orders/${CREATED}/complete`, headers: bearer(key), status: 200 },
  ];
}

/** One create and 19 lists. */
export function mixed(key: string): Call[] {
  return [create(key), ...Array.from({ length: 19 }, () => list(key))];
}

function bearer(key: string): { Authorization: string } {
  return { Authorization: `Bearer ${key}` };
}
