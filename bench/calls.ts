import type { BenchRequest } from './request.ts';

/** How many animals a page has. */
export const PAGE = 20;

export function get(path: string, key: string): BenchRequest {
  return { method: 'GET', path, headers: { Authorization: `Bearer ${key}` } };
}

/** The newest animals. */
export function list(key: string): BenchRequest {
  return get(`/v1/pets?limit=${PAGE}`, key);
}

export function create(key: string): BenchRequest {
  return {
    method: 'POST',
    path: '/v1/pets',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: '{"name":"Rex","categoryId":7,"status":"available"}',
  };
}
