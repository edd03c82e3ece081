// Contract: sections 1.3 and 3.
import type { Stores } from '../api/index.ts';
import {
  type AnyOperation,
  type Deprecation,
  type Method,
  pathNames,
  queryParameters,
} from '../api/declaration.ts';
import type { Operation } from '../api/operation.ts';
import { absentValues, type Asked, type Named } from '../api/parameters.ts';
import { listed } from '../domain/parse.ts';
import { type Fields, fields, NO_FIELDS } from './wire/text.ts';

/** An operation, ready to be called. */
export interface Served<Its = Operation<Stores>> extends Asked {
  readonly operation: Its;
  /** The index of the operation in the list of all. */
  readonly index: number;
  /** The headers of every response of the operation. */
  readonly headers: Fields;
}

/** A path of the API, with the operation of each of its methods. */
export interface Route<Its = Operation<Stores>> {
  /** As the log and the metrics name it: `/v1/pets/{petId}`. */
  readonly template: string;
  /** Matches the paths of the template, with a group for each of its names. Undefined for a template without names. */
  readonly pattern: RegExp | undefined;
  readonly operations: Readonly<Partial<Record<string, Served<Its>>>>;
  /** For `Allow` and for CORS. */
  readonly methods: string;
}

export interface Match<Its = Operation<Stores>> {
  readonly route: Route<Its>;
  /** The texts of the path's parameters, decoded, in their order. */
  readonly values: readonly string[];
}

/** The routes of a list of operations, at the base address `base`, whose path is `prefix`. */
export class Routes<Its extends AnyOperation = Operation<Stores>> {
  /** The methods of an unknown path: all that the API has. */
  readonly methods: string;
  readonly unknownPath: string;
  readonly #routes: readonly Route<Its>[];

  constructor(operations: readonly Its[], base: string, prefix = '/v1') {
    const byPath = Map.groupBy(operations, ({ path }) => path);
    const paths = [...byPath.keys()];
    this.methods = methodsOf(operations);
    this.unknownPath = `There is no such path: the API has ${listed(paths)}.`;
    this.#routes = [...byPath]
      .map(([path, its]) => ({ key: order(path), route: routeOf(path, its, operations, base, prefix) }))
      // The sort is stable, so a request to a resource that is listed first passes no route of the others.
      .toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
      .map(({ route }) => route);
  }

  match(path: string): Match<Its> | undefined {
    for (const route of this.#routes) {
      const { pattern, template } = route;
      if (pattern === undefined) {
        if (template === path) return { route, values: [] };
        continue;
      }
      const found = pattern.exec(path);
      if (found !== null) return { route, values: found.slice(1) };
    }
    return undefined;
  }
}

function routeOf<Its extends AnyOperation>(
  path: string,
  operations: readonly Its[],
  all: readonly Its[],
  base: string,
  prefix: string,
): Route<Its> {
  const byMethod: Partial<Record<string, Served<Its>>> = {};
  for (const operation of operations) {
    const { method, deprecated } = operation;
    const headers = deprecated === undefined ? NO_FIELDS : deprecationHeaders(deprecated, base);
    const inPath = pathNames(path).map((name): Named => [name, operation.parameters[name] as Named[1]]);
    const inQuery = queryParameters(operation);
    const served = {
      operation,
      index: all.indexOf(operation),
      inPath,
      inQuery,
      absent: absentValues(inQuery),
      headers,
    };
    byMethod[method] = served;
    if (method === 'GET') byMethod['HEAD'] = served;
  }
  const literals = `${prefix}${path}`.split(/\{\w+\}/).map((literal) => RegExp.escape(literal));
  const pattern = literals.length === 1 ? undefined : new RegExp(`^${literals.join('([^/]+)')}$`);
  return { template: `${prefix}${path}`, pattern, operations: byMethod, methods: methodsOf(operations) };
}

/** The methods of a path with these operations, as in `Allow`. HEAD is answered as GET without a body. */
export function methodsOf(operations: readonly Pick<AnyOperation, 'method'>[]): string {
  const both = (method: Method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]);
  return [...new Set(operations.flatMap(({ method }) => both(method))), 'OPTIONS'].join(', ');
}

/** The sort key of a path. It puts fewer segments before more, and a literal segment before a parameter. */
function order(path: string): string {
  const segments = path.split('/').slice(1);
  return `${segments.length} ${segments.map((segment) => Number(segment.startsWith('{'))).join('')}`;
}

/** RFC 9745, RFC 8594, RFC 8288. */
export function deprecationHeaders({ since, removal, successor }: Deprecation, base: string): Fields {
  const reference = base.replace(/\/v1$/, '/reference');
  return fields(
    'Deprecation',
    `@${since / 1000}`,
    'Sunset',
    new Date(removal).toUTCString(),
    'Link',
    `<${reference}>; rel="deprecation", <${base}${successor}>; rel="successor-version"`,
  );
}
