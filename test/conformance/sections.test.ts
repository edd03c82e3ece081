import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Description } from '../../src/conformance/description.ts';
import { rulesOf } from '../../src/conformance/rules.ts';
import { CHECKS } from '../../src/conformance/sections/index.ts';
import { OPERATORS_ONLY, UNSEEN } from '../../src/conformance/unseen.ts';

const read = (page: string) => readFileSync(`docs/contract/${page}.md`, 'utf8');

const sectionsOf = (text: string, heading: RegExp) =>
  new Set([...text.matchAll(heading)].map(([, number = '']) => number));

test('every section of the contract for clients is checked, or said to be unseen', () => {
  const pages = ['api', 'limits', 'events'].map(read).join('\n');
  const sections = sectionsOf(pages, /^### (\d+\.\d+) /gm).add('9');
  const rules = rulesOf(new Description(), () => []);
  const seen = new Set([...CHECKS, ...rules, ...UNSEEN].map(({ section }) => section));
  assert.deepEqual([...sections.difference(seen)], []);
  assert.deepEqual([...seen.difference(sections)], []);
  assert.deepEqual([...sectionsOf(read('operators'), /^## (\d+)\. /gm)], OPERATORS_ONLY);
});

test('no two promises have the same name', () => {
  const promises = [...CHECKS, ...rulesOf(new Description(), () => [])].map(
    ({ section, promise }) => `${section} ${promise}`,
  );
  assert.equal(new Set(promises).size, promises.length);
});
