import type { Answer } from './exchange.ts';
import { isInt64, parseJson } from './json.ts';

type FieldType = 'array' | 'boolean' | 'int64' | 'object' | 'string';

/**
 * The value, if it has `fields` of these types: enough to tell an item of the service from the answer of a proxy.
 * @throws TypeError that says `what` the value is not.
 */
export function toItem<Item>(
  value: unknown,
  what: string,
  fields: Partial<Record<keyof Item, FieldType>>,
): Item {
  const object = (value ?? {}) as Record<string, unknown>;
  const types = Object.entries(fields) as [string, FieldType][];
  if (types.every(([name, type]) => isOfType(object[name], type))) return value as Item;
  throw new TypeError(`The body is not ${what}.`);
}

function isOfType(value: unknown, type: FieldType): boolean {
  if (type === 'int64') return isInt64(value);
  return type === 'array' ? Array.isArray(value) : typeof value === type;
}

/** Reads an answer that has one item. */
export function readItem<Item>(make: (value: unknown) => Item): (answer: Answer) => Item {
  return ({ body }) => make(parseJson(body));
}

/** Reads an answer that is a list in one piece. */
export function readItems<Item>(make: (value: unknown) => Item): (answer: Answer) => readonly Item[] {
  return ({ body }) => {
    const items = parseJson(body);
    if (!Array.isArray(items)) throw new TypeError('The body is not an array.');
    return items.map(make);
  };
}

/** Reads an answer that holds a secret: the errors show nothing of the body. */
export function readSecret<Item>(make: (value: unknown) => Item): (answer: Answer) => Item {
  return ({ body }) => {
    let value: unknown;
    try {
      value = parseJson(body);
    } catch {
      throw new TypeError('The body is not JSON.');
    }
    return make(value);
  };
}

/** Reads an answer that has no content. */
export function readNothing({ status }: Answer): void {
  if (status !== 204) throw new TypeError('The answer must have the status 204.');
}
