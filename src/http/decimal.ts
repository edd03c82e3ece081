/*
 * Numbers that are another with nearly every request. V8 keeps the text of each number that it converts, until thousands
 * of others were converted: those texts would fill the old generation, and have all of it collected every few seconds.
 */

const GROUPS = Array.from({ length: 1000 }, (_, group) => `${group}`);
const PADDED = GROUPS.map((digits) => digits.padStart(3, '0'));
const FRACTIONS = PADDED.map((digits) => `.${digits}`.replace(/\.?0+$/, ''));

/** A whole number from 0 to 2^53 − 1 in decimal. */
export function decimal(number: number): string {
  if (number < 1000) return GROUPS[number] ?? '';
  const last = number % 1000;
  return decimal((number - last) / 1000) + (PADDED[last] ?? '');
}

/** So many thousandths, from 0 to 2^53 − 1, in decimal: 1250 is `1.25`, and 2000 is `2`. */
export function thousandths(number: number): string {
  const last = number % 1000;
  return decimal((number - last) / 1000) + (FRACTIONS[last] ?? '');
}
