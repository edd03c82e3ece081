/** Set by `npm run torture`: tests with rounds do all of them, and some measure times. */
export const isTorture = process.env['ROUNDS'] === 'all';

/** How many rounds a test does: all of them under torture, else a tenth, at least `least`. */
export function rounds(all: number, least = 1): number {
  return isTorture ? all : Math.max(least, Math.ceil(all / 10));
}
