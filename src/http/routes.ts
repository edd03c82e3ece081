// Contract: section 3.
import { listed } from '../domain/parse.ts';
import {
  type Call,
  type Deprecation,
  type HandlerResult,
  type Method,
  type Operation,
  pathNames,
  queryParameters,
} from './operation.ts';
import { absentValues, type AnyParameter, type NamedParameter, type ParameterSet } from './parameters.ts';
import { type Fields, fields, NO_FIELDS } from 'direct-http';

/** An operation with its repositories, ready to be called. */
export interface BoundOperation extends ParameterSet {
  readonly declaration: Operation;
  /** The index of the operation in the list of all. */
  readonly index: number;
  /** The headers of every response of the operation. */
  readonly headers: Fields;
  handle(call: Call): Promise<HandlerResult>;
}

/** A path of the API, with the operation of each of its methods. */
interface Route {
  /** As the log and the metrics name it: `/v1/pets/{petId}`. */
  readonly template: string;
  /** Matches the paths of the template, with a group for each of its names. Undefined for a template without names. */
  readonly pattern: RegExp | undefined;
  readonly operations: Readonly<Partial<Record<string, BoundOperation>>>;
  /** For `Allow` and for CORS. */
  readonly methods: string;
}

export interface Match {
  readonly route: Route;
  /** The texts of the path's parameters, decoded, in their order. */
  readonly values: readonly string[];
}

/** The routes of operations below the base address `base`, whose path is `prefix`. */
export class Routes {
  /** All methods, for an unknown path. */
  readonly methods: string;
  readonly #paths: string;
  readonly #routes: readonly Route[];

  constructor(operations: readonly BoundOperation[], prefix: string) {
    const byPath = Map.groupBy(operations, ({ declaration }) => declaration.path);
    const paths = [...byPath.keys()];
    this.methods = allowedMethods(operations.map(({ declaration }) => declaration));
    this.#paths = listed(paths);
    this.#routes = [...byPath]
      .map(([path, bound]) => ({ key: sortKey(path), route: createRoute(prefix + path, bound) }))
      // The sort is stable, so a request to a resource that is listed first passes no route of the others.
      .toSorted((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)))
      .map(({ route }) => route);
  }

  /** What is said of a path that matches nothing. */
  explainUnknown(path: string): string {
    const meant = path.endsWith('/') ? this.match(path.slice(0, -1)) : undefined;
    return meant === undefined
      ? `There is no such path: the API has ${this.#paths}.`
      : `There is no such path: write ${meant.route.template} without a slash at the end.`;
  }

  match(path: string): Match | undefined {
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

/** Gives each operation what it uses, and nothing else. `base` is the address that links of deprecated operations begin with. */
export function bindOperations<Uses>(
  operations: readonly Operation<Uses>[],
  uses: Uses,
  base: string,
): BoundOperation[] {
  return operations.map((declaration, index) => {
    const { path, deprecated } = declaration;
    const inQuery = queryParameters(declaration);
    const picked = pickUses(declaration, uses);
    return {
      declaration,
      index,
      inPath: pathNames(path).map((name): NamedParameter => [name, requireParameter(declaration, name)]),
      inQuery,
      absent: absentValues(inQuery),
      headers: deprecated === undefined ? NO_FIELDS : deprecationHeaders(deprecated, base),
      // The declaration has checked that its handler takes what its own parameters and body give.
      handle: (call) => declaration.handle(call as never, picked),
    };
  });
}

/** A text of the path that the parameter cannot read is 404. */
function requireParameter({ id, parameters, errors }: Operation, name: string): AnyParameter {
  const parameter = parameters[name];
  if (parameter === undefined) throw new Error(`${id} has no parameter ${name}, which is in its path.`);
  if (errors.not_found === undefined) throw new Error(`${id} has no message for a wrong ${name}: not_found.`);
  return parameter;
}

/** @throws Error when the service does not have what an operation uses. */
function pickUses<Uses>({ id, uses: names }: Operation<Uses>, uses: Uses): Uses {
  const has = uses as Readonly<Record<string, unknown>>;
  const missing = names?.filter((name) => !(name in has)) ?? [];
  if (missing.length > 0)
    throw new Error(`The operation ${id} uses ${missing.join(', ')}, which nothing opens.`);
  return (names === undefined ? uses : Object.fromEntries(names.map((name) => [name, has[name]]))) as Uses;
}

function createRoute(template: string, operations: readonly BoundOperation[]): Route {
  const byMethod: Partial<Record<string, BoundOperation>> = {};
  for (const operation of operations) {
    const { method } = operation.declaration;
    byMethod[method] = operation;
    if (method === 'GET') byMethod['HEAD'] = operation;
  }
  const literals = template.split(/\{\w+\}/).map((literal) => RegExp.escape(literal));
  const pattern = literals.length === 1 ? undefined : new RegExp(`^${literals.join('([^/]+)')}$`);
  const methods = allowedMethods(operations.map(({ declaration }) => declaration));
  return { template, pattern, operations: byMethod, methods };
}

/** The methods of a path with these operations, as in `Allow`. HEAD is answered as GET without a body. */
export function allowedMethods(operations: readonly Pick<Operation, 'method'>[]): string {
  const withHead = (method: Method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]);
  return [...new Set(operations.flatMap(({ method }) => withHead(method))), 'OPTIONS'].join(', ');
}

/** Puts fewer segments before more, and a literal segment before a parameter. */
function sortKey(path: string): string {
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
