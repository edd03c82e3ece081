// Contract: section 3.
import { type Operation, type OperationGroup, pathNames } from '../http/operation.ts';
import type { AnyParameter } from '../http/parameters.ts';
import { REQUEST_HEADERS } from '../http/request-headers.ts';
import { schemaRef } from './schemas.ts';
import type { Parameter, Ref } from './types.ts';

/** The parameters of operations as reusable components, and the references to them. */
export function describeParameters(groups: readonly OperationGroup[]) {
  const operations = groups.flatMap((group): readonly Operation[] => group.operations);
  const components: Record<string, Parameter> = {};
  /**
   * The name of a parameter. If an earlier operation means something else by it, the id of the first operation that means the
   * same is before it.
   */
  const componentName = (operation: Operation, name: string): string => {
    const text = JSON.stringify(describe(operation, name));
    const having = operations.filter((each) => name in each.parameters);
    const same = having.findIndex((each) => JSON.stringify(describe(each, name)) === text);
    return same === 0 ? name : `${having[same]?.id ?? operation.id}.${name}`;
  };
  for (const operation of operations)
    for (const name of Object.keys(operation.parameters))
      components[componentName(operation, name)] = describe(operation, name);
  const headers = new Set(operations.flatMap(requestHeaders));
  for (const [name, { description, pattern, maxLength, example }] of Object.entries(REQUEST_HEADERS)) {
    if (!headers.has(name as HeaderName)) continue;
    const schema = { type: 'string', pattern, maxLength } as const;
    components[name] = { name, in: 'header', description, schema, example };
  }
  return {
    components,
    refs: (operation: Operation): Ref[] =>
      [
        ...Object.keys(operation.parameters).map((name) => componentName(operation, name)),
        ...requestHeaders(operation),
      ].map((name) => ({ $ref: `#/components/parameters/${name}` })),
  };
}

type HeaderName = keyof typeof REQUEST_HEADERS;

/** The headers that a request of the operation may carry. Operators send no keys and no preconditions. */
function requestHeaders({ method, role, answer }: Operation): readonly HeaderName[] {
  if (method === 'GET') return answer.noStore ? ['X-Request-Id'] : ['If-None-Match', 'X-Request-Id'];
  if (role !== undefined) return ['X-Request-Id'];
  return [method === 'POST' ? 'Idempotency-Key' : 'If-Match', 'X-Request-Id'];
}

function describe({ path, parameters }: Operation, name: string): Parameter {
  const { description, schema, named, example } = parameters[name] as AnyParameter;
  return {
    name,
    ...(pathNames(path).includes(name) ? { in: 'path', required: true } : { in: 'query' }),
    description,
    schema: named === undefined ? schema : schemaRef(named),
    // A list is sent as one parameter for each value.
    ...(schema['type'] === 'array' && { style: 'form', explode: true }),
    example,
  };
}
