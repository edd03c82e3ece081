// Contract: section 9.
import { STATUS_CODES } from 'direct-http';
import type { OperationObject } from './operations.ts';
import type { Ref, Response } from './types.ts';

/** A response by its name. A description replaces that of the component. */
interface ResponseRef extends Ref {
  readonly description?: string;
}

type Paths = Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;

interface Occurrence {
  readonly operationId: string;
  readonly status: string;
  readonly response: Response;
}

/**
 * The same description, in which responses that occur more than once are components. Responses are the same if they differ
 * only in their descriptions, which stay, and in the examples of an error: the component has those of its first operation.
 */
export function shareResponses<D extends { readonly paths: Paths; readonly components: object }>(
  document: D,
) {
  const occurrences = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ operationId, responses }) =>
      Object.entries(responses).map(([status, response]) => ({ operationId, status, response })),
    );
  const groups = Map.groupBy(occurrences, identify);
  const responses: Record<string, Response> = {};
  const refs = new Map<Response, ResponseRef>();
  for (const [first, ...others] of groups.values()) {
    if (first === undefined || others.length === 0) continue;
    const plain = nameStatus(first.status);
    const name = plain in responses ? `${first.operationId}.${plain}` : plain;
    responses[name] = first.response;
    for (const { response } of [first, ...others]) {
      const differs = response.description !== first.response.description;
      refs.set(response, {
        $ref: `#/components/responses/${name}`,
        ...(differs && { description: response.description }),
      });
    }
  }
  const paths = mapValues(document.paths, (item) =>
    mapValues(item, (operation) => ({
      ...operation,
      responses: mapValues(operation.responses, (response) => refs.get(response) ?? response),
    })),
  );
  return { ...document, paths, components: { ...document.components, responses } };
}

/** Equal texts mean the same response. */
function identify({ status, response: { headers, content } }: Occurrence): string {
  const isError = status === 'default' || status >= '400';
  const schema = content?.['application/json'].schema;
  return JSON.stringify([status, headers, isError ? schema : content]);
}

/** `404` as `NotFound`. */
function nameStatus(status: string): string {
  return (STATUS_CODES[status] ?? 'Other').replaceAll(/[^A-Za-z]/g, '');
}

function mapValues<V, R>(values: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
