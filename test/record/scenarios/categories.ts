import type { Scenario } from '../support/scenario.ts';

const NEXT = /<https:\/\/petstore\.example(\/v1\/categories[^>]*)>; rel="next"/;

export const CATEGORIES: Scenario = {
  name: 'categories',
  keys: { key: {}, reader: { scopes: ['pets:read'] }, writer: { scopes: ['pets:write'] } },
  rows: [
    ['an empty list', 'GET /v1/categories'],
    [
      'add a category',
      { send: 'POST /v1/categories', body: { name: 'Dogs', description: 'Puppies included.' } },
    ],
    [
      'add one without description',
      { send: 'POST /v1/categories', body: { name: 'Cats', id: 9, more: true } },
    ],
    [
      'add one with an empty description',
      { send: 'POST /v1/categories', body: { name: 'Birds', description: '' } },
    ],
    ['refuse a name that is taken', { send: 'POST /v1/categories', body: { name: 'dogs' } }],
    ['refuse a name that is taken in another form', { send: 'POST /v1/categories', body: { name: 'ＤOGS' } }],
    [
      'add with an idempotency key',
      { send: 'POST /v1/categories', body: { name: 'Fish' }, headers: { 'Idempotency-Key': 'c' } },
    ],
    [
      'replay it',
      { send: 'POST /v1/categories', body: { name: 'Fish' }, headers: { 'Idempotency-Key': 'c' } },
    ],
    [
      'refuse the key with another body',
      { send: 'POST /v1/categories', body: { name: 'Rays' }, headers: { 'Idempotency-Key': 'c' } },
    ],
    [
      'the key belongs to the operation',
      { send: 'POST /v1/pets', body: { name: 'Fish', categoryId: 1 }, headers: { 'Idempotency-Key': 'c' } },
    ],
    ['refuse a missing name', { send: 'POST /v1/categories', body: {} }],
    ['refuse a long name', { send: 'POST /v1/categories', body: { name: 'x'.repeat(101) } }],
    [
      'refuse a long description',
      { send: 'POST /v1/categories', body: { name: 'x', description: 'x'.repeat(1_001) } },
    ],
    ['refuse the description null', { send: 'POST /v1/categories', body: { name: 'x', description: null } }],
    [
      'refuse a description with NUL',
      { send: 'POST /v1/categories', body: { name: 'x', description: '\0' } },
    ],
    ['refuse a missing body', { send: 'POST /v1/categories', headers: { 'Content-Length': '0' } }],
    ['refuse text', { send: 'POST /v1/categories', body: {}, headers: { 'Content-Type': 'text/plain' } }],
    ['refuse a creation by a reader', { send: 'POST /v1/categories', as: 'reader', body: { name: 'x' } }],
    ['list', { send: 'GET /v1/categories', save: { tag: /ETag: (.*)/ } }],
    ['list without change', { send: 'GET /v1/categories', headers: { 'If-None-Match': '$tag' } }],
    ['head of the list', 'HEAD /v1/categories'],
    ['the first page', { send: 'GET /v1/categories?limit=2', save: { next: NEXT } }],
    ['the last page', 'GET $next'],
    ['refuse a bad limit', 'GET /v1/categories?limit=101'],
    ['refuse a bad cursor', 'GET /v1/categories?cursor=x'],
    ['refuse a list for a writer', { send: 'GET /v1/categories', as: 'writer' }],
    ['get one', { send: 'GET /v1/categories/1', save: { tag: /ETag: (.*)/ } }],
    ['get one without change', { send: 'GET /v1/categories/1', headers: { 'If-None-Match': '$tag' } }],
    ['head of one', 'HEAD /v1/categories/1'],
    ['get one that does not exist', 'GET /v1/categories/99'],
    ['get an id that is none', 'GET /v1/categories/dogs'],
    ['refuse one for a writer', { send: 'GET /v1/categories/1', as: 'writer' }],
    [
      'change the description',
      { send: 'PATCH /v1/categories/1', body: { description: 'All.' }, headers: { 'If-Match': '$tag' } },
    ],
    [
      'refuse an old tag',
      { send: 'PATCH /v1/categories/1', body: { description: 'No.' }, headers: { 'If-Match': '$tag' } },
    ],
    ['change the name to another case', { send: 'PATCH /v1/categories/1', body: { name: 'DOGS' } }],
    ['remove the description', { send: 'PATCH /v1/categories/1', body: { description: null } }],
    ['change nothing', { send: 'PATCH /v1/categories/1', body: {} }],
    ['refuse the name of another', { send: 'PATCH /v1/categories/1', body: { name: 'cats' } }],
    ['refuse the name null', { send: 'PATCH /v1/categories/1', body: { name: null } }],
    ['refuse a bad patch', { send: 'PATCH /v1/categories/1', body: { name: '' } }],
    ['refuse a patch of one that does not exist', { send: 'PATCH /v1/categories/99', body: {} }],
    [
      'refuse a patch of another media type',
      { send: 'PATCH /v1/categories/1', body: {}, headers: { 'Content-Type': 'text/plain' } },
    ],
    ['refuse a patch by a reader', { send: 'PATCH /v1/categories/1', as: 'reader', body: {} }],
    ['refuse a patch by a writer', { send: 'PATCH /v1/categories/1', as: 'writer', body: {} }],
    ['refuse to delete for a writer', { send: 'DELETE /v1/categories/2', as: 'writer' }],
    [
      'refuse to delete with an old tag',
      { send: 'DELETE /v1/categories/2', headers: { 'If-Match': '$tag' } },
    ],
    ['refuse to delete one with an animal', 'DELETE /v1/categories/1'],
    ['delete', 'DELETE /v1/categories/2'],
    ['delete again', 'DELETE /v1/categories/2'],
    ['refuse PUT of the list', { send: 'PUT /v1/categories', body: {} }],
  ],
};
