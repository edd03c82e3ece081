// Contract: section 10.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Actor,
  actorFromText,
  actorName,
  toActor,
  isActorKind,
  SERVICE,
  textFromActor,
} from '../../src/domain/audit.ts';

const ACTORS: readonly (readonly [Actor, text: string])[] = [
  [{ kind: 'operator', name: 'Ada:\nB' }, 'operator:Ada:\nB'],
  [{ kind: 'key', id: 12 }, 'key:12'],
  [{ kind: 'system', name: '' }, 'system:'],
  [SERVICE, 'system:service'],
];

for (const [actor, text] of ACTORS)
  test(`${JSON.stringify(text)} is an actor, and back`, () => {
    assert.equal(textFromActor({ ...actor, address: '::1' }), text);
    assert.deepEqual(actorFromText(text), actor);
  });

test('an actor of a later version is none', () => {
  for (const text of [undefined, '', 'robot:1', 'key', 'Key:1', 'x key:1', ':1'])
    assert.equal(actorFromText(text), undefined);
  assert.deepEqual(['operator', 'key', 'system', 'robot'].map(isActorKind), [true, true, true, false]);
});

test('operators see kind and name of an actor, and a key by its number', () => {
  assert.equal(actorName({ kind: 'key', id: 12 }), '12');
  assert.deepEqual(toActor({ kind: 'key', id: 12, address: '::1' }), { kind: 'key', name: '12' });
  assert.deepEqual(toActor({ kind: 'operator', name: 'Ada', address: '::1' }), {
    kind: 'operator',
    name: 'Ada',
  });
});
