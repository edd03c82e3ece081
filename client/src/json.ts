import { checkObject, describeValue } from './checks.ts';

/**
 * Like `JSON.parse`, but an integer beyond ±(2^53 − 1) becomes an exact bigint. Every other number stays a number.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Shorter integers are exact already. The parser's access to source text is missing in Node.js 20 and older browsers.
  return /\d{16}/.test(text) ? readTokens(text.match(TOKENS) ?? []) : value;
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|-?\d[\d.eE+-]*|true|false|null/g;

/** The value of the tokens of a valid JSON text. */
function readTokens(tokens: readonly string[]): unknown {
  let position = 0;
  const next = (): string => tokens[position++] ?? '';
  const read = (token: string): unknown => {
    if (token === '[') {
      const items: unknown[] = [];
      for (let item = next(); item !== ']'; item = next()) items.push(read(item));
      return items;
    }
    if (token === '{') {
      const entries: [string, unknown][] = [];
      for (let name = next(); name !== '}'; name = next()) {
        entries.push([JSON.parse(name) as string, read(next())]);
      }
      return Object.fromEntries(entries);
    }
    return /^-?\d+$/.test(token) ? integer(token) : JSON.parse(token);
  };
  return read(next());
}

function integer(digits: string): number | bigint {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : BigInt(digits);
}

/**
 * A flat object as JSON. Writes bigints as integers and leaves undefined fields out.
 * @throws TypeError that names the argument when it is no object.
 * @throws RangeError when a number is beyond ±(2^53 − 1), because it may be rounded already. It names the field.
 */
export function objectText(argument: string, fields: object): string {
  checkObject(argument, fields);
  const written = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${JSON.stringify(name)}:${isInteger(value) ? integerText(name, value) : JSON.stringify(value)}`,
    );
  return `{${written.join(',')}}`;
}

/**
 * An integer in decimal digits.
 * @throws TypeError or RangeError that names the value and says what was given.
 */
export function integerText(name: string, value: unknown): string {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  if (typeof value !== 'number') {
    throw new TypeError(`${name} must be a number or a bigint, but ${describeValue(value)} was given.`);
  }
  if (!Number.isInteger(value)) throw new RangeError(`${name} must be an integer, but ${value} was given.`);
  throw new RangeError(
    `${name} is the number ${value}, which is not an exact integer: give integers beyond 2^53 - 1 as a bigint.`,
  );
}

/** A value of `parseJson` as JSON again. */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}:${jsonText(field)}`);
  return `{${fields.join(',')}}`;
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value);
}

/** Whether a value of `parseJson` is an integer of 64 bits. */
export function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}
