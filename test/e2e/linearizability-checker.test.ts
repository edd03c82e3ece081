// Contract: section 3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Animal, isCatalogueHistory, type Recorded } from '../support/catalogue-model.ts';

const animal = (id: number, status?: string): Animal => ({ id, name: `Pet ${id}`, status });

const create = (began: number, ended: number, { id, ...rest }: Animal): Recorded => {
  return { kind: 'create', animal: rest, id, began, ended };
};
const lost = (began: number, { id: _id, ...rest }: Animal): Recorded => {
  return { kind: 'create', animal: rest, began, ended: Number.POSITIVE_INFINITY };
};
const list = (began: number, ended: number, answer: readonly Animal[], limit = 100): Recorded => {
  return { kind: 'list', limit, answer, began, ended };
};
const listSold = (began: number, ended: number, answer: readonly Animal[]): Recorded => {
  return { kind: 'list', limit: 100, status: 'sold', answer, began, ended };
};
const get = (began: number, ended: number, id: number, answer?: Animal): Recorded => {
  return { kind: 'get', id, answer, began, ended };
};

const LINEARIZABLE: Record<string, readonly Recorded[]> = {
  'nothing happened': [],
  'one operation at a time': [
    list(0, 1, []),
    create(2, 3, animal(1)),
    list(4, 5, [animal(1)]),
    get(6, 7, 1, animal(1)),
    get(8, 9, 2),
  ],
  'a list that overlaps a create, with the animal': [create(0, 9, animal(1)), list(1, 2, [animal(1)])],
  'a list that overlaps a create, without the animal': [create(0, 9, animal(1)), list(1, 2, [])],
  'creates that overlap, seen in the order of their ids reversed': [
    create(0, 9, animal(1)),
    create(0, 9, animal(2)),
    list(1, 2, [animal(2)]),
    list(3, 4, [animal(2), animal(1)]),
  ],
  'a list cut at its limit': [create(0, 1, animal(1)), create(2, 3, animal(2)), list(4, 5, [animal(2)], 1)],
  'a list of one status': [
    create(0, 1, animal(1, 'sold')),
    create(2, 3, animal(2)),
    listSold(4, 5, [animal(1, 'sold')]),
  ],
  'a create without an answer that nobody ever sees': [lost(0, animal(1)), list(5, 6, [])],
  'a create without an answer that is seen late': [
    lost(0, animal(1)),
    list(1, 2, []),
    list(3, 4, [animal(1)]),
    get(5, 6, 1, animal(1)),
  ],
};

const NOT_LINEARIZABLE: Record<string, readonly Recorded[]> = {
  'a stale list': [create(0, 1, animal(1)), list(2, 3, [])],
  'a stale get': [create(0, 1, animal(1)), get(2, 3, 1)],
  'a lost create': [
    create(0, 1, animal(1)),
    create(2, 3, animal(2)),
    list(4, 5, [animal(2)]),
    list(6, 7, [animal(2)]),
  ],
  'an animal that was seen and is gone again': [
    create(0, 9, animal(1)),
    list(1, 2, [animal(1)]),
    list(3, 4, []),
  ],
  'two readers that see two creates in different orders': [
    create(0, 9, animal(1)),
    create(0, 9, animal(2)),
    list(1, 5, [animal(1)]),
    list(2, 6, [animal(2)]),
  ],
  'a list that is not in the order of ids': [
    create(0, 1, animal(1)),
    create(2, 3, animal(2)),
    list(4, 5, [animal(1), animal(2)]),
  ],
  'a list longer than its limit': [
    create(0, 1, animal(1)),
    create(2, 3, animal(2)),
    list(4, 5, [animal(2), animal(1)], 1),
  ],
  'a list with another status': [create(0, 1, animal(1)), listSold(2, 3, [animal(1)])],
  'an animal that nobody created': [list(0, 1, [animal(7)])],
  'an animal seen before its create began': [list(0, 1, [animal(1)]), create(2, 3, animal(1))],
  'an animal that comes back changed': [create(0, 1, animal(1)), get(2, 3, 1, { id: 1, name: 'Other' })],
  'one id given twice': [create(0, 1, animal(1)), create(0, 1, { id: 1, name: 'Other' })],
  'a create without an answer that is seen and is gone again': [
    lost(0, animal(1)),
    list(1, 2, [animal(1)]),
    list(3, 4, []),
  ],
};

for (const [title, history] of Object.entries(LINEARIZABLE)) {
  test(`linearizable is ${title}`, () => {
    assert.equal(isCatalogueHistory(history), true);
  });
}

for (const [title, history] of Object.entries(NOT_LINEARIZABLE)) {
  test(`not linearizable is ${title}`, () => {
    assert.equal(isCatalogueHistory(history), false);
  });
}

test('a history starts from the animals that existed before it', () => {
  const before = [animal(1), animal(2)];
  const history = [create(0, 1, animal(3)), list(2, 3, [animal(3), animal(2)], 2), get(4, 5, 1, animal(1))];
  assert.equal(isCatalogueHistory(history, before), true);
  assert.equal(isCatalogueHistory([list(0, 1, [animal(1)])], before), false);
});

test('a long history with a fault in its last answer is judged quickly', () => {
  const history = Array.from({ length: 8 }, (_none, round) =>
    Array.from({ length: 6 }, (_nothing, client) =>
      create(round * 10, round * 10 + 9, animal(round * 6 + client + 1)),
    ),
  ).flat();
  const all = Array.from({ length: 48 }, (_, index) => animal(48 - index));
  assert.equal(isCatalogueHistory([...history, list(90, 91, all)]), true);
  assert.equal(isCatalogueHistory([...history, list(90, 91, all.slice(1))]), false);
});
