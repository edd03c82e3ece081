import { Random } from './random.ts';
import { encodeCursor } from '../../src/domain/cursor.ts';
import { type Operation, pathNames, queryParameters } from '../../src/http/operation.ts';
import type { AnyParameter, NamedParameter } from '../../src/http/parameters.ts';
import {
  ANY_JSON,
  type Attempt,
  bodySchema,
  cursorsLike,
  exampleBody,
  exampleOf,
  fill,
  headerValues,
  INSTANTS,
  LONG,
  NUMBERS,
  cursorName,
  READ_HEADERS,
  type Schema,
  TEXTS,
  UNKNOWN_PARAMETERS,
  valuesOf,
} from './ends.ts';

/*
 * Requests that a seed decides, from the declarations of operations: several values at once, at their ends and beyond, and of
 * other kinds. Most requests are almost valid, so that they come far.
 */

/** What was learned from responses, and makes requests that come further. */
class Learned {
  /** The newest of each operation. */
  readonly tags = new Map<string, string>();
  readonly cursors = new Map<string, string>();
  readonly ids: number[] = [];

  note(operation: Operation, headers: Readonly<Record<string, string | undefined>>, text: string): void {
    const { etag, link = '', location = '' } = headers;
    if (etag !== undefined) this.tags.set(operation.path, etag);
    const name = cursorName(operation);
    const cursor = name && new RegExp(`[?&]${name}=([\\w-]+)>`).exec(link)?.[1];
    if (cursor) this.cursors.set(operation.id, cursor);
    const id = Number(/\/(\d+)$/.exec(location)?.[1] ?? /^\{"id":(\d+)/.exec(text)?.[1]);
    if (Number.isSafeInteger(id) && operation.method === 'POST') this.ids.push(id);
    if (this.ids.length > 40) this.ids.shift();
  }
}

/** Ids that there are. */
const IDS = 43;

/** Texts whose lengths and characters are ends of some rule. */
const ODD = [
  '\u0000',
  '\u007f',
  '\u0085',
  '\u00ad',
  '\u0130',
  '\u0300',
  '\u200d',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '\u{1f415}',
  '\u{10ffff}',
  '\\ud800',
  '\\udc00',
  'ß',
  'ﷺ',
  '\t',
  '\n',
  '"',
  '\\',
  '/',
  '<',
  '%00',
];

export class DrawnRequests {
  readonly draw: Random;
  readonly learned = new Learned();
  /** Ids of what the requests themselves need. */
  readonly #spared: ReadonlySet<number>;
  readonly #cursors = new Map<string, readonly string[]>();
  readonly #schemas = new Map<Operation, Schema | undefined>();

  constructor(seed: number, spared: ReadonlySet<number>) {
    this.draw = new Random(seed);
    this.#spared = spared;
  }

  /** A request of one of the operations, and the operation that answers it. */
  next(operations: readonly Operation[]): { readonly attempt: Attempt; readonly operation: Operation } {
    const { draw } = this;
    const operation = draw.pick(operations);
    const path = this.#path(operation);
    const query = this.#query(operation);
    const headers = this.#headers(operation);
    const body = this.#body(operation);
    const waits = query.includes('wait=');
    const isHead = operation.method === 'GET' && (waits || draw.chance(0.1));
    const method = isHead ? 'HEAD' : operation.method;
    const attempt = {
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers,
      ...(body !== undefined && { body }),
    };
    return { attempt, operation };
  }

  #id(): string {
    const { draw, learned } = this;
    const id = learned.ids.length > 0 && draw.chance(0.3) ? draw.pick(learned.ids) : 1 + draw.below(IDS);
    return this.#spared.has(id) ? '1' : String(id);
  }

  #path(operation: Operation): string {
    const { draw } = this;
    const values: Record<string, string> = {};
    for (const name of pathNames(operation.path)) {
      const parameter = operation.parameters[name] as AnyParameter;
      const value = draw.chance(0.8) ? this.#id() : draw.pick(valuesOf(parameter));
      if (value !== '') values[name] = value;
    }
    return fill(operation, values);
  }

  #query(operation: Operation): string {
    const { draw } = this;
    const parts: string[] = [];
    for (const named of queryParameters(operation)) {
      if (draw.chance(0.65)) continue;
      const most = Number((named[1].schema as Schema)['maxItems'] ?? 1);
      const isRepeated = draw.chance(most > 1 ? 0.5 : 0.04);
      const times = isRepeated ? draw.pick([2, most, most + 1]) : 1;
      for (let time = 0; time < times; time++) parts.push(`${named[0]}=${this.#parameter(operation, named)}`);
    }
    if (draw.chance(0.02)) parts.push(draw.pick(UNKNOWN_PARAMETERS));
    while (parts.length > 1 && parts.join('&').length > 14_000) parts.pop();
    return parts.join('&');
  }

  #parameter(operation: Operation, [, parameter]: NamedParameter): string {
    const { draw } = this;
    if (parameter.isCursor) return this.#cursor(operation, parameter);
    if (draw.chance(0.5)) return exampleOf(parameter);
    return draw.chance(0.2)
      ? this.#id()
      : draw.pick(valuesOf(parameter).filter((value) => value.length < 2_000));
  }

  /** One that the service gave, or one like it. */
  #cursor({ id }: Operation, parameter: AnyParameter): string {
    const { draw, learned } = this;
    const real = learned.cursors.get(id) ?? exampleOf(parameter);
    if (draw.chance(0.5)) return real;
    if (draw.chance(0.5)) {
      let cursors = this.#cursors.get(id);
      if (cursors === undefined) {
        cursors = [...cursorsLike(exampleOf(parameter))].filter((cursor) => cursor.length < 2_000);
        this.#cursors.set(id, cursors);
      }
      return draw.pick(cursors);
    }
    if (draw.chance(0.3))
      return encodeCursor(BigInt.asIntN(64, BigInt(draw.below(2 ** 32)) << BigInt(draw.below(33))));
    const bytes = Buffer.from(real, 'base64url');
    bytes[draw.below(bytes.length)] = draw.below(256);
    return draw.chance(0.5) ? bytes.toString('base64url') : encodeURIComponent(bytes.toString('base64'));
  }

  #headers(operation: Operation): Record<string, string> {
    const { draw, learned } = this;
    const headers: Record<string, string> = {};
    for (const name of READ_HEADERS[operation.method]) {
      if (draw.chance(0.75)) continue;
      const key = name.toLowerCase();
      if (name === 'Idempotency-Key' && draw.chance(0.7))
        headers[key] = `key ${draw.below(30)}`.replace(' ', '-');
      else if (name.startsWith('If-') && draw.chance(0.6))
        headers[key] = learned.tags.get(operation.path) ?? '*';
      else headers[key] = draw.pick(headerValues(name).filter((value) => value.length < 9_000));
    }
    if (draw.chance(0.1))
      headers['accept'] = draw.pick(['*/*', 'text/html', '', 'a'.repeat(1_000), 'application/json;q=0']);
    if (draw.chance(0.1))
      headers['origin'] = draw.pick(['null', 'https://shop.example', '', 'é', 'x'.repeat(300)]);
    if (draw.chance(0.05))
      headers['x-forwarded-for'] = draw.pick(['203.0.113.7', ', ,', '::1', 'x'.repeat(500)]);
    if (draw.chance(0.04))
      headers['content-type'] = draw.pick([
        '',
        'text/plain',
        'application/json; charset=latin1',
        'application/json;charset=UTF-8',
        'application/merge-patch+json',
        'APPLICATION/JSON ; x="\\"',
      ]);
    if (draw.chance(0.02)) headers['content-encoding'] = draw.pick(['gzip', 'identity', '', 'br, gzip']);
    if (draw.chance(0.02))
      headers['authorization'] = draw.pick([
        '',
        'Bearer',
        'Bearer x',
        'Basic eDp4',
        `Bearer ${'x'.repeat(8_000)}`,
        'Bearer pet store',
      ]);
    return headers;
  }

  #body(operation: Operation): string | undefined {
    const { draw } = this;
    if (operation.body === undefined) {
      if (operation.method === 'GET' || draw.chance(0.95)) return undefined;
      return draw.pick(['', '{}', 'x', '[1]']);
    }
    let schema = this.#schemas.get(operation);
    if (schema === undefined) this.#schemas.set(operation, (schema = bodySchema(operation)));
    if (draw.chance(0.05))
      return draw.pick(['', '[', '{"a":'.repeat(2_000), `${' '.repeat(16_384)}{}`, '\ufeff{}', ...ANY_JSON]);
    const example = JSON.parse(exampleBody(operation) ?? '{}') as Record<string, unknown>;
    return this.#object(schema as Schema, example);
  }

  /** An object with most of its fields as in the example. */
  #object({ properties = {}, required = [] }: Schema, example: Readonly<Record<string, unknown>>): string {
    const { draw } = this;
    const members: string[] = [];
    for (const [name, schema] of Object.entries<Schema>(properties)) {
      if (draw.chance((required as readonly string[]).includes(name) ? 0.04 : 0.4)) continue;
      const value =
        example[name] !== undefined && draw.chance(0.55)
          ? this.#like(name, example[name])
          : this.#json(schema, example[name]);
      members.push(`${JSON.stringify(name)}:${value}`);
      if (draw.chance(0.02)) members.push(`${JSON.stringify(name)}:${draw.pick(ANY_JSON)}`);
    }
    if (draw.chance(0.08))
      members.push(
        `${draw.pick(['"a"', '"__proto__"', '"constructor"', '""', '"\\u0000"'])}:${draw.pick(ANY_JSON)}`,
      );
    if (draw.chance(0.1)) members.reverse();
    return `{${draw.pick(['', '', '', ' \r\n\t'])}${members.join(',')}}`;
  }

  /** The value of an example. An id is one that there is, and a name is new. */
  #like(name: string, value: unknown): string {
    const { draw } = this;
    if (name.endsWith('Id') && typeof value === 'number') return this.#id();
    if (name === 'name' && draw.chance(0.7))
      return JSON.stringify(`${String(value)} ${draw.below(1_000_000)}`);
    return JSON.stringify(value);
  }

  /** JSON of a schema: at its ends, one beyond, and of another kind. */
  #json(schema: Schema, example: unknown): string {
    const { draw } = this;
    if (draw.chance(0.08)) return draw.pick(ANY_JSON);
    const options: readonly Schema[] = schema['anyOf'] ?? schema['oneOf'] ?? [];
    if (options.length > 0) return this.#json(draw.pick(options), example);
    if (schema['enum'] !== undefined) return JSON.stringify(draw.pick(schema['enum']));
    if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
    switch (schema['type']) {
      case 'boolean':
        return draw.pick(['true', 'false']);
      case 'integer':
      case 'number':
        return this.#number(schema);
      case 'string':
        return this.#text(schema);
      case 'array':
        return this.#array(schema, example);
      case 'object':
        return this.#object(
          schema,
          (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>,
        );
      default:
        return draw.pick(ANY_JSON);
    }
  }

  #number({ minimum, maximum }: Schema): string {
    const { draw } = this;
    const ends = [minimum, maximum].flatMap((end) => (end === undefined ? [] : [end - 1, end, end + 1]));
    if (ends.length > 0 && draw.chance(0.6)) return String(draw.pick(ends));
    if (draw.chance(0.5)) return String(draw.below(10));
    return draw.pick(NUMBERS.filter((text) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e\d+)?$/.test(text)));
  }

  #text({ minLength = 0, maxLength, format }: Schema): string {
    const { draw } = this;
    if (format === 'date-time' && draw.chance(0.7)) return JSON.stringify(draw.pick(INSTANTS));
    if (draw.chance(0.2)) return JSON.stringify(draw.pick([...TEXTS, ...LONG]));
    const most = Math.min(Number(maxLength ?? 40), 4_000);
    const length = draw.pick([
      minLength - 1,
      minLength,
      minLength + 1,
      most - 1,
      most,
      most + 1,
      draw.below(20),
    ]);
    if (draw.chance(0.5))
      return JSON.stringify(draw.pick(['x', 'é', '\u{1f415}', ' ', '9']).repeat(Math.max(0, length)));
    let text = '';
    for (let index = 0; index < Math.min(30, length); index++)
      text += draw.chance(0.5) ? 'x' : draw.pick(ODD);
    // A lone surrogate has no UTF-8, but an escape in JSON.
    return draw.chance(0.5) ? JSON.stringify(text).replaceAll('\\\\ud', '\\ud') : JSON.stringify(text);
  }

  #array({ items = {}, minItems = 0, maxItems = 20 }: Schema, example: unknown): string {
    const { draw } = this;
    const count = Math.max(0, draw.pick([0, 1, 2, minItems - 1, minItems, maxItems, maxItems + 1]));
    const first: unknown = Array.isArray(example) ? example[0] : undefined;
    const options = (items as Schema)['enum'] as readonly unknown[] | undefined;
    const isDistinct = options !== undefined && draw.chance(0.7);
    const values = Array.from({ length: count }, (_, index) =>
      isDistinct ? JSON.stringify(options[index % options.length]) : this.#json(items as Schema, first),
    );
    return `[${values.join(',')}]`;
  }
}
