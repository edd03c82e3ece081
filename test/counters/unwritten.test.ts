import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Noted, Unwritten } from '../../src/counters/unwritten.ts';

interface Item extends Noted {
  readonly name: number;
}

const items = (count: number): Item[] =>
  Array.from({ length: count }, (_, name) => ({ name, changed: false, waitsFrom: undefined }));

test('decisions §6: of very many changes those that the journal has are not appended again, the others once, as they are then', async () => {
  const all = items(9_000);
  const [first, last] = [all[0], all.at(-1)];
  assert.ok(first !== undefined && last !== undefined);
  const appended: number[][] = [];
  let whileAppending = (): void => {};
  const rows = new Set<number>();
  const unwritten = new Unwritten<Item>(
    {
      rows: async (portion) => {
        for (const { name } of portion) rows.add(name);
      },
      append: async (portion) => {
        whileAppending();
        appended.push(portion.map(({ name }) => name));
        return appended.length;
      },
    },
    { capacity: 20_000, portion: 400 },
  );
  for (const item of all) unwritten.add(item);

  // While the first portion is on its way, what is in the last changes again; the second one fails, with the first changed.
  whileAppending = () => {
    unwritten.add(last);
    if (appended.length === 0) return;
    unwritten.add(first);
    throw new Error('disk full');
  };
  await assert.rejects(unwritten.append(), /disk full/);
  assert.equal(appended.length, 1);
  const written = new Set(appended.splice(0).flat());
  assert.ok(written.has(first.name) && !written.has(last.name));

  whileAppending = () => {};
  await unwritten.append();
  const left = all.map(({ name }) => name).filter((name) => name === first.name || !written.has(name));
  assert.deepEqual(
    appended
      .splice(0)
      .flat()
      .toSorted((a, b) => a - b),
    left,
  );
  assert.deepEqual(
    all.filter((item) => !unwritten.has(item)),
    [],
  );

  for (let flush = 0; flush < 30; flush++) await (await unwritten.append())();
  assert.deepEqual(appended, []);
  assert.equal(rows.size, all.length);
  assert.deepEqual(
    all.filter((item) => unwritten.has(item)),
    [],
  );
  assert.equal(unwritten.neededFrom(), Number.POSITIVE_INFINITY);
});
