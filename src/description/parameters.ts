// Contract: section 3.
import { OPERATIONS } from '../api/index.ts';
import { type AnyOperation, type Method, pathNames } from '../http/declaration.ts';
import type { Operation } from '../api/operation.ts';
import type { AnyParameter } from '../http/parameters.ts';
import { REQUEST_HEADERS } from '../http/request-headers.ts';
import type { Parameter, Ref } from './types.ts';

/** The parameters of these operations, as reusable components. */
export function parameterComponents(operations: readonly Operation[]): Record<string, Parameter> {
  const own = operations.flatMap((its) =>
    parametersOf(its).map((each): [string, Parameter] => [componentOf(its, each.name), each]),
  );
  const headers = Object.entries(REQUEST_HEADERS).map(
    ([name, { description, pattern, maxLength, example }]): [string, Parameter] => {
      return [
        name,
        { name, in: 'header', description, schema: { type: 'string', pattern, maxLength }, example },
      ];
    },
  );
  return Object.fromEntries([...own, ...headers]);
}

/** The headers of each method. */
const HEADERS_OF: Readonly<Record<Method, readonly (keyof typeof REQUEST_HEADERS)[]>> = {
  GET: ['If-None-Match'],
  POST: ['Idempotency-Key'],
  PATCH: ['If-Match'],
  DELETE: ['If-Match'],
};

export function parameterRefs(its: Operation): Ref[] {
  const own = Object.keys(its.parameters).map((name) => componentOf(its, name));
  return [...own, ...HEADERS_OF[its.method], 'X-Request-Id'].map((name) => ({
    $ref: `#/components/parameters/${name}`,
  }));
}

/**
 * The name of a parameter. If an earlier operation means something else by it, the id of the first operation that means the
 * same is before it.
 */
function componentOf({ id, parameters }: Operation, name: string): string {
  const its = JSON.stringify(parameters[name]);
  const having = OPERATIONS.filter((each) => name in each.parameters);
  const same = having.findIndex((each) => JSON.stringify(each.parameters[name]) === its);
  return same === 0 ? name : `${having[same]?.id ?? id}.${name}`;
}

/** The parameters of an operation, in OpenAPI. */
export function parametersOf({ path, parameters }: Pick<AnyOperation, 'path' | 'parameters'>): Parameter[] {
  const inPath = pathNames(path);
  return Object.entries(parameters).map(([name, each]) => described(name, inPath.includes(name), each));
}

function described(
  name: string,
  isInPath: boolean,
  { description, schema, example }: AnyParameter,
): Parameter {
  return {
    name,
    ...(isInPath ? { in: 'path', required: true } : { in: 'query' }),
    description,
    schema: typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema,
    // A list is sent as one parameter for each value.
    ...(typeof schema !== 'string' && schema['type'] === 'array' && { style: 'form', explode: true }),
    example,
  };
}
