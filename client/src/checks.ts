/** Characters. A longer text is not shown, because it may be a key. */
const SHOWN_MAX = 20;

/** A value as messages name it: `the string '2'`. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return value.length > SHOWN_MAX ? 'a long string' : `the string '${value}'`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return typeof value === 'function' || typeof value === 'symbol' ? `a ${typeof value}` : String(value);
}

/** @throws TypeError that names the value, unless it is an object. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new TypeError(`${name} must be an object, but ${describeValue(value)} was given.`);
}

/** @throws TypeError that names the first option that is not known. */
export function checkOptions(options: object, known: Readonly<Record<string, true>>): void {
  checkObject('options', options);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    throw new TypeError(`There is no option "${name}". The options are ${Object.keys(known).join(', ')}.`);
  }
}
