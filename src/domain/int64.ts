// Contract: section 2.

export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

const isInt64 = (value: bigint): boolean => value >= INT64_MIN && value <= INT64_MAX;

const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The exact value of a JSON number in its written form, or undefined when it is no int64.
 * `1.0` and `1e3` are integers; `1.5`, `1e19` and `1.0000000000000000000001` are not int64.
 */
export function int64FromJson(source: string): bigint | undefined {
  if (/^-?[1-9]\d{0,14}$/.test(source)) return BigInt(source);
  const match = JSON_NUMBER.exec(source);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const written = (whole + fraction).replace(/^0+/, '');
  // The look-behind keeps the search linear. Without it, a body of zeros blocks the event loop.
  const digits = written.replace(/(?<!0)0+$/, '');
  if (digits === '') return 0n;
  // The value is digits × 10^scale. The length is checked first, because `1e999999999` would fill the memory.
  const scale = Number(exponent) - fraction.length + (written.length - digits.length);
  if (scale < 0 || digits.length + scale > 19) return undefined;
  const value = BigInt(sign + digits + '0'.repeat(scale));
  return isInt64(value) ? value : undefined;
}

/** An int64 in its plain decimal spelling (`-12`, never `+12`, `012` or `1e3`), or undefined. */
export function int64FromDecimal(text: string): bigint | undefined {
  if (text.length > 20 || !/^(?:0|-?[1-9]\d*)$/.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}
