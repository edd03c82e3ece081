// Contract: sections 1.3, 3 and 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATIONS } from '../../src/resources/operations.ts';
import { act, list, pathNames, read } from '../../src/http/operation.ts';
import { int64 } from '../../src/http/parameters.ts';
import { getPet } from '../../src/resources/pets/operations.ts';
import { EXAMPLE_URLS } from '../../src/config/config.ts';
import { openApi } from '../../src/description/openapi.ts';
import { referenceMarkdown } from '../../src/description/reference-markdown.ts';
import type { PetRepository } from '../../src/resources/pets/repository.ts';
import { NewPet, Pet } from '../../src/resources/pets/schema.ts';
import { bindOperations, Routes } from '../../src/http/routes.ts';

const BASE = {
  id: 'test',
  scope: 'pets:read',
  summary: '',
  description: '',
  sample: { client: 'test' },
} as const;
const A = int64({ description: '', example: 1 });
const NEW = { name: 'Rex', categoryId: 7n };
const handle = async () => ({ value: {} });

/** No test calls an operation. */
const STORES = {} as never;

function at(path: string) {
  const parameters = Object.fromEntries(pathNames(path).map((name) => [name, A]));
  return { ...getPet, path, parameters };
}

test('an operation can only answer what it declares', () => {
  // @ts-expect-error: the code is not declared.
  read(Pet, { ...BASE, path: '/a', errors: {}, handle: async () => ({ error: 'conflict' }) });
  // @ts-expect-error: the code is not declared.
  list(Pet, 'pets', { ...BASE, path: '/a', handle: async () => ({ error: 'conflict' }) });
});

test('a POST of a client passes its Idempotency-Key on', () => {
  // @ts-expect-error: it cannot find that the key was used before.
  act(Pet, { ...BASE, path: '/a', handle });
  act(Pet, {
    ...BASE,
    path: '/a',
    handle: async (call, { pets }: { pets: PetRepository }) =>
      pets.create(call.actor, NEW, call.idempotency, 1),
  });
  const { scope: _scope, sample: _sample, ...operators } = BASE;
  act(Pet, { ...operators, role: 'admin', path: '/a', handle });
});

test('an operation declares nothing that its shape does not know', () => {
  // @ts-expect-error: a GET has no body.
  read(Pet, { ...BASE, path: '/a', input: NewPet, handle });
  // @ts-expect-error: operators have no scopes.
  read(Pet, { ...BASE, path: '/a', role: 'viewer', handle });
});

test('an operation declares the parameters of its path, and a message for the wrong ones', () => {
  const bind = (operation: typeof getPet) => bindOperations([operation], STORES, '');
  const path = '/{a}';
  assert.throws(
    () => bind(read(Pet, { ...BASE, path, errors: { not_found: '' }, handle })),
    /no parameter a,/,
  );
  assert.throws(() => bind(read(Pet, { ...BASE, path, parameters: { a: A }, handle })), /not_found/);
  bind(read(Pet, { ...BASE, path, parameters: { a: A }, errors: { not_found: '' }, handle }));
});

test('an operation gets what its group uses, and nothing else', async () => {
  const bind = (uses: object) =>
    bindOperations(
      [{ ...getPet, uses: ['pets'], handle: async (_, own) => ({ value: own }) }],
      uses as never,
      '',
    );
  assert.throws(() => bind({ orders: 1 }), /getPet uses pets, which nothing opens/);
  assert.deepEqual(await bind({ orders: 1, pets: 2 })[0]?.handle({} as never), { value: { pets: 2 } });
});

test('an operation gets parsed parameters of the declared types', () => {
  read(Pet, {
    ...BASE,
    path: '/{a}',
    parameters: { a: A },
    errors: { not_found: '' },
    async handle({ parameters: { a } }) {
      const id: bigint = a;
      // @ts-expect-error: an int64 is no number.
      const count: number = a;
      return { value: { id, count } };
    },
  });
});

test('a path can have several parameters, which are decoded by segment', () => {
  const { match } = routesOf('/a/{b}/c/{d}');
  assert.deepEqual(match('/v1/a/1/c/x%2Fy'), ['/v1/a/{b}/c/{d}', '1', 'x%2Fy']);
  for (const path of ['/v1/a/1/c', '/v1/a/1/c/', '/v1/a//c/2', '/v1/a/1/c/2/3', '/v1/a/1/x/2'])
    assert.equal(match(path), undefined);
});

test('a literal segment wins over a parameter, wherever the list names them', () => {
  const paths = ['/{a}/{b}', '/a/{b}', '/{a}/b', '/a/b', '/a/{b}/c', '/a/b/{c}'];
  for (const order of [paths, paths.toReversed()]) {
    const { match } = routesOf(...order);
    assert.deepEqual(match('/v1/a/b'), ['/v1/a/b']);
    assert.deepEqual(match('/v1/a/x'), ['/v1/a/{b}', 'x']);
    assert.deepEqual(match('/v1/x/b'), ['/v1/{a}/b', 'x']);
    assert.deepEqual(match('/v1/x/y'), ['/v1/{a}/{b}', 'x', 'y']);
    assert.deepEqual(match('/v1/a/b/c'), ['/v1/a/b/{c}', 'c']);
    assert.deepEqual(match('/v1/a/x/c'), ['/v1/a/{b}/c', 'x']);
  }
});

test('the message for an unknown path names every path, or the one that is meant with a slash at its end', () => {
  const { routes } = routesOf('/a', '/b/{c}', '/d');
  for (const path of ['/v1/e', '/v1/e/', '/v1/a//', '/v1'])
    assert.equal(routes.explainUnknown(path), 'There is no such path: the API has /a, /b/{c} and /d.');
  const meant = (path: string) => `There is no such path: write ${path} without a slash at the end.`;
  assert.equal(routes.explainUnknown('/v1/a/'), meant('/v1/a'));
  assert.equal(routes.explainUnknown('/v1/b/7/'), meant('/v1/b/{c}'));
});

test('deprecation belongs to the operation, not to its path', () => {
  const { deprecated: _none, ...kept } = getPet;
  const { operations } =
    new Routes(bindOperations([getPet, { ...kept, method: 'POST' }], STORES, ''), '/v1').match('/v1/pets/1')
      ?.route ?? {};
  assert.match(operations?.['GET']?.headers ?? '', /^Deprecation: /);
  assert.equal(operations?.['HEAD']?.headers, operations?.['GET']?.headers);
  assert.equal(operations?.['POST']?.headers, '');
});

test('the description and the reference have every operation with all its samples', () => {
  const { document } = openApi(EXAMPLE_URLS, EXAMPLE_URLS.production);
  const markdown = referenceMarkdown(document);
  const described = Object.values(document.paths).flatMap((item) => Object.values(item));
  for (const { id, method, path, summary } of OPERATIONS) {
    const its = described.find(({ operationId }) => operationId === id);
    assert.equal(its?.['x-codeSamples']?.length, 3, id);
    assert.ok(markdown.includes(`### ${summary}\n\n\`${method} ${path}\` (${id}; `), id);
  }
  assert.equal(new Set(OPERATIONS.map(({ id }) => id)).size, described.length);
});

function routesOf(...paths: readonly string[]) {
  const routes = new Routes(bindOperations(paths.map(at), STORES, ''), '/v1');
  const match = (path: string) => {
    const found = routes.match(path);
    return found === undefined ? undefined : [found.route.template, ...found.values];
  };
  return { routes, match };
}
