import * as fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any character, without lone surrogates. `fc.string({ unit: 'binary' })` draws the same, but fills a map of all million
 * characters first, which takes more than a second in each process.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map(characterOf, indexOf);

function characterOf(index: number): string {
  return String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES);
}

/** How fast-check finds the characters of the texts that it mixes in, such as `__proto__`. */
function indexOf(character: unknown): number {
  const point =
    typeof character === 'string' && character.isWellFormed() ? character.codePointAt(0) : undefined;
  if (point === undefined || String.fromCodePoint(point) !== character) throw new Error('Not one character.');
  return point < FIRST_SURROGATE ? point : point - SURROGATES;
}
