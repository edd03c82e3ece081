// Contract: sections 2.5 and 5.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNameFault, foldedName } from '../../src/domain/text.ts';

test('a name folds the same in every case that Unicode gives a character', () => {
  for (let code = 1; code < 0x11_0000; code++) {
    if (code >= 0xd8_00 && code < 0xe0_00) continue;
    const character = String.fromCodePoint(code);
    const folded = foldedName(character);
    for (const other of [character.toLowerCase(), character.toUpperCase(), folded])
      assert.equal(foldedName(other), folded, `U+${code.toString(16)}`);
  }
});

for (const [one, other] of [
  ['Straße', 'STRASSE'],
  ['GROẞ', 'gross'],
  ['ΌΔΟΣ', 'όδος'],
  ['όδοσ', 'όδος'],
  ['Caf\u00e9', 'CAFE\u0301'],
  ['İ', 'i\u0307'],
  ['ﬁ', 'FI'],
] as const) {
  test(`${one} and ${other} are the same name`, () => {
    assert.equal(foldedName(one), foldedName(other));
  });
}

for (const [one, other] of [
  ['e', 'é'],
  ['Dogs', 'Dogs '],
  ['İ', 'i'],
  ['Dogs', 'Ｄogs'],
] as const) {
  test(`${one} and ${other} are different names`, () => {
    assert.notEqual(foldedName(one), foldedName(other));
  });
}

for (const kind of ['account', 'operator'] as const) {
  test(`an ${kind} name fits on one line`, () => {
    for (const name of ['a', 'Tierheim Köln e. V.', '🐕'.repeat(100)])
      assert.equal(findNameFault(kind, name), undefined);
    for (const name of ['', ' a', 'a ', 'a\nb', 'a\tb', 'a\0', '\ud800', 'x'.repeat(101)]) {
      const fault = findNameFault(kind, name);
      assert.equal(fault?.error, 'invalid_request', JSON.stringify(name));
      assert.match(fault.message ?? '', new RegExp(`^An ${kind} name has`));
    }
  });
}
