import type { Scenario } from '../support/scenario.ts';

/** A deprecated operation after its end. */
export const REMOVED: Scenario = {
  name: 'removed',
  start: '2030-12-04T23:59:59.000Z',
  keys: { key: {}, bare: { scopes: [] } },
  rows: [
    ['add an animal', { send: 'POST /v1/pets', body: { name: 'Rex', categoryId: 7 } }],
    ['get it in the last second', 'GET /v1/pets/1'],
    ['get it after the end', { send: 'GET /v1/pets/1', pass: 1_000 }],
    ['head of it', 'HEAD /v1/pets/1'],
    ['get one that does not exist', 'GET /v1/pets/x'],
    ['get one without scope', { send: 'GET /v1/pets/1', as: 'bare' }],
    ['other methods of the path stay', { send: 'PATCH /v1/pets/1', body: { name: 'Max' } }],
    ['its successor', 'GET /v1/pets?id=1'],
  ],
};
