/*
 * For numbers that differ with nearly every request. V8 caches the text of each number that it converts, so it promotes
 * these texts to the old generation, whose collections are long.
 */

const GROUPS = Array.from({ length: 1000 }, (_, group) => `${group}`);
const PADDED = GROUPS.map((digits) => digits.padStart(3, '0'));
const FRACTIONS = PADDED.map((digits) => `.${digits}`.replace(/\.?0+$/, ''));

declare const isDigits: unique symbol;

/** A number as text. */
export type Digits = string & { readonly [isDigits]: true };

/** A whole number from 0 to 2^53 − 1 in decimal. */
export function decimal(number: number): Digits {
  if (number < 1000) return (GROUPS[number] ?? `${number}`) as Digits;
  const last = number % 1000;
  return `${decimal((number - last) / 1000)}${PADDED[last]}` as Digits;
}

/** This many thousandths, from 0 to 2^53 − 1, in decimal: 1250 is `1.25`, and 2000 is `2`. */
export function thousandths(number: number): string {
  const last = number % 1000;
  return decimal((number - last) / 1000) + (FRACTIONS[last] ?? '');
}
