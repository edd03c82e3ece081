import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean, editsBetween, nearest } from '../../src/domain/nearest.ts';

for (const [from, to, edits] of [
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['abc', 'abc', 0],
  ['abc', 'abd', 1],
  ['abc', 'ab', 1],
  ['bc', 'abc', 1],
  ['abc', 'acb', 1],
  ['ab', 'ba', 1],
  ['abcd', 'badc', 2],
  ['ab', 'bca', 3],
  ['kitten', 'sitting', 3],
  ['aab', 'aba', 1],
] as const)
  test(`"${from}" becomes "${to}" by ${edits} edits`, () => {
    assert.equal(editsBetween(from, to), edits);
    assert.equal(editsBetween(to, from), edits);
  });

test('the nearest word needs fewer edits than half of its characters', () => {
  const commands = ['serve', 'seed', 'export'];
  assert.equal(nearest('SERVR', commands), 'serve');
  assert.equal(nearest('sede', commands), 'seed');
  assert.equal(nearest('exp', ['exports']), undefined);
  assert.equal(nearest('ab', ['ac']), undefined, 'half');
  assert.equal(nearest('abc', ['abd']), 'abd');
  assert.equal(nearest('abc', ['abcde']), 'abcde', 'half of the longer one');
  assert.equal(nearest('', commands), undefined);
  assert.equal(nearest('x', []), undefined);
});

test('a message asks for the nearest word, if there is one', () => {
  assert.equal(didYouMean('serv', ['serve']), ' Did you mean serve?');
  assert.equal(didYouMean('zzz', ['serve']), '');
});
