// Contract: sections 2.5 and 5.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyText, cutText, findNameIssue, foldedName, foldedPart, isPartOf } from '../../src/domain/text.ts';

const CHARACTERS = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd8_00 || code >= 0xe0_00)
  .map((code) => String.fromCodePoint(code));

/** The code points that Unicode folds to several: status F of CaseFolding.txt. */
const FULL = new Map(
  `
DF:73+73 130:69+307 149:2BC+6E 1F0:6A+30C 390:3B9+308+301 3B0:3C5+308+301 587:565+582 1E96:68+331
1E97:74+308 1E98:77+30A 1E99:79+30A 1E9A:61+2BE 1E9E:73+73 1F50:3C5+313 1F52:3C5+313+300 1F54:3C5+313+301
1F56:3C5+313+342 1F80:1F00+3B9 1F81:1F01+3B9 1F82:1F02+3B9 1F83:1F03+3B9 1F84:1F04+3B9 1F85:1F05+3B9
1F86:1F06+3B9 1F87:1F07+3B9 1F88:1F00+3B9 1F89:1F01+3B9 1F8A:1F02+3B9 1F8B:1F03+3B9 1F8C:1F04+3B9
1F8D:1F05+3B9 1F8E:1F06+3B9 1F8F:1F07+3B9 1F90:1F20+3B9 1F91:1F21+3B9 1F92:1F22+3B9 1F93:1F23+3B9
1F94:1F24+3B9 1F95:1F25+3B9 1F96:1F26+3B9 1F97:1F27+3B9 1F98:1F20+3B9 1F99:1F21+3B9 1F9A:1F22+3B9
1F9B:1F23+3B9 1F9C:1F24+3B9 1F9D:1F25+3B9 1F9E:1F26+3B9 1F9F:1F27+3B9 1FA0:1F60+3B9 1FA1:1F61+3B9
1FA2:1F62+3B9 1FA3:1F63+3B9 1FA4:1F64+3B9 1FA5:1F65+3B9 1FA6:1F66+3B9 1FA7:1F67+3B9 1FA8:1F60+3B9
1FA9:1F61+3B9 1FAA:1F62+3B9 1FAB:1F63+3B9 1FAC:1F64+3B9 1FAD:1F65+3B9 1FAE:1F66+3B9 1FAF:1F67+3B9
1FB2:1F70+3B9 1FB3:3B1+3B9 1FB4:3AC+3B9 1FB6:3B1+342 1FB7:3B1+342+3B9 1FBC:3B1+3B9 1FC2:1F74+3B9
1FC3:3B7+3B9 1FC4:3AE+3B9 1FC6:3B7+342 1FC7:3B7+342+3B9 1FCC:3B7+3B9 1FD2:3B9+308+300 1FD3:3B9+308+301
1FD6:3B9+342 1FD7:3B9+308+342 1FE2:3C5+308+300 1FE3:3C5+308+301 1FE4:3C1+313 1FE6:3C5+342 1FE7:3C5+308+342
1FF2:1F7C+3B9 1FF3:3C9+3B9 1FF4:3CE+3B9 1FF6:3C9+342 1FF7:3C9+342+3B9 1FFC:3C9+3B9 FB00:66+66 FB01:66+69
FB02:66+6C FB03:66+66+69 FB04:66+66+6C FB05:73+74 FB06:73+74 FB13:574+576 FB14:574+565 FB15:574+56B
FB16:57E+576 FB17:574+56D
`
    .trim()
    .split(/\s/)
    .map((entry) => entry.split(':'))
    .map(([from = '', to = '']) => [decode(from), to.split('+').map(decode)]),
);

function decode(hexadecimal: string): string {
  return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
}

test('names are equal when Unicode folds them to the same text, and only then', () => {
  // Status C: the flags i and u of a regular expression compare by it. The first of each class stands for all.
  const cased = CHARACTERS.filter((each) =>
    /[\p{Changes_When_Casefolded}\p{Changes_When_Casemapped}]/u.test(each),
  );
  const all = cased.join('');
  const first = new Map(
    cased.map((each) => [
      each,
      [...all.matchAll(new RegExp(`\\u{${each.codePointAt(0)?.toString(16)}}`, 'giu'))][0]?.[0],
    ]),
  );
  const fold = (character: string) =>
    [...character.normalize('NFD')]
      .flatMap((each) => FULL.get(each) ?? [each])
      .map((each) => first.get(each) ?? each)
      .join('')
      .normalize('NFD');
  const [byFolded, byUnicode] = [new Map<string, string>(), new Map<string, string>()];
  for (const character of CHARACTERS) {
    const [folded, unicode] = [foldedName(character), fold(character)];
    if (!byFolded.has(folded)) byFolded.set(folded, unicode);
    if (!byUnicode.has(unicode)) byUnicode.set(unicode, folded);
    if (byFolded.get(folded) !== unicode || byUnicode.get(unicode) !== folded)
      assert.fail(`U+${character.codePointAt(0)?.toString(16)}`);
  }
});

test('a folded name is its own folded name', () => {
  for (const character of CHARACTERS) {
    const folded = foldedName(`ı${character}Σ\u0301ı${character}`);
    if (foldedName(folded) !== folded) assert.fail(`U+${character.codePointAt(0)?.toString(16)}`);
  }
});

test('a search finds a part of a word that ends in another sigma', () => {
  assert.ok(isPartOf('ΟΔΥΣ')('Οδυσσεύς'));
  assert.ok(isPartOf('σευσ')('ΟΔΥΣΣΕΥΣ'));
  assert.ok(!isPartOf('kir')('kır'));
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
      assert.equal(findNameIssue(kind, name), undefined);
    for (const name of ['', ' a', 'a ', 'a\nb', 'a\tb', 'a\0', '\ud800', 'x'.repeat(101)]) {
      const issue = findNameIssue(kind, name);
      assert.equal(issue?.error, 'invalid_request', JSON.stringify(name));
      assert.match(issue.message ?? '', new RegExp(`^An ${kind} name has`));
    }
  });
}

test('a text is cut to its first characters and an ellipsis', () => {
  assert.deepEqual(
    ['', 'abc', 'abcd', '🐕🐕🐕', '🐕🐕🐕🐕', '🐕bcd', 'a'.repeat(99)].map((text) => cutText(text, 3)),
    ['', 'abc', 'ab…', '🐕🐕🐕', '🐕🐕…', '🐕b…', 'aa…'],
  );
  assert.equal(copyText('🐕a'), '🐕a');
});

test('a folded name is in lower case', () => {
  assert.equal(foldedName('Ada ΣΑΣ'), 'ada σας');
  assert.equal(foldedPart('ΣΑΣ'), 'σασ');
});

test('a name without a key says so', () => {
  assert.equal(
    findNameIssue('passkey', 'a petstore_admin_')?.message?.startsWith('A passkey name has'),
    true,
  );
});
