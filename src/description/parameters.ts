// Contract: section 3.
import { type Operation, type OperationGroup, pathNames } from '../http/operation.ts';
import type { AnyParameter } from '../http/parameters.ts';
import { REQUEST_HEADERS } from '../http/request-headers.ts';
import type { Parameter, Ref } from './types.ts';

/** The parameters of operations as reusable components, and the references to them. */
export function describeParameters(groups: readonly OperationGroup[]) {
  const operations = groups.flatMap((group): readonly Operation[] => group.operations);
  const components: Record<string, Parameter> = {};
  /**
   * The name of a parameter. If an earlier operation means something else by it, the id of the first operation that means the
   * same is before it.
   */
  const componentName = ({ id, parameters }: Operation, name: string): string => {
    const text = JSON.stringify(parameters[name]);
    const having = operations.filter((each) => name in each.parameters);
    const same = having.findIndex((each) => JSON.stringify(each.parameters[name]) === text);
    return same === 0 ? name : `${having[same]?.id ?? id}.${name}`;
  };
  for (const operation of operations) {
    const inPath = pathNames(operation.path);
    for (const [name, parameter] of Object.entries(operation.parameters))
      components[componentName(operation, name)] = describe(name, inPath.includes(name), parameter);
  }
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

function describe(name: string, isInPath: boolean, parameter: AnyParameter): Parameter {
  const { description, schema, example } = parameter;
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
