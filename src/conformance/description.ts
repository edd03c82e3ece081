// Contract: sections 1.1, 3, 4 and 9.
import { openApi } from '../description/openapi.ts';
import { elements, isObject, type Json, member, toText } from './json.ts';
import { findIssue, type Schema, type Schemas } from './schema.ts';

interface DescribedHeader {
  readonly $ref?: string;
  readonly schema?: Schema;
}

interface DescribedResponse {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, DescribedHeader>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly examples?: object }>>;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly 'x-stability'?: string;
  readonly 'x-allowance'?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

/** An operation of the contract, with its method and path. */
export interface ContractOperation extends DescribedOperation {
  /** In upper case. */
  readonly method: string;
  /** Below the base address, with names in place of ids. */
  readonly path: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly headers: Readonly<Record<string, DescribedHeader>>;
  };
}

/** What the contract says of every operation, as this version describes itself. */
export class Description {
  readonly #document: Document;
  readonly operations: readonly ContractOperation[];

  constructor() {
    // Addresses are only in its examples.
    const base = 'https://petstore.example/v1';
    this.#document = openApi({ production: base }, base).document as unknown as Document;
    this.operations = Object.entries(this.#document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) =>
        Object.assign({ method: method.toUpperCase(), path }, operation),
      ),
    );
  }

  /** The operation of a request; HEAD is that of GET. The path is below the base address, without a query. */
  find(method: string, path: string): ContractOperation | undefined {
    const parts = path.split('/');
    const wanted = method === 'HEAD' ? 'GET' : method;
    const fitting = this.operations.filter((each) => {
      const segments = each.path.split('/');
      return (
        each.method === wanted &&
        segments.length === parts.length &&
        segments.every((segment, index) => segment.startsWith('{') || segment === parts[index])
      );
    });
    return fitting.toSorted((one, other) => one.path.split('{').length - other.path.split('{').length)[0];
  }

  /** The response that an operation may give, or undefined. `code` is that of a refusal. */
  response(
    operation: ContractOperation,
    status: number,
    code: Json | undefined,
  ): DescribedResponse | undefined {
    const own = operation.responses[status];
    if (status < 400) return own;
    const codes = own?.content?.['application/json']?.schema.properties?.['code']?.enum;
    if (own !== undefined && (codes === undefined || codes.includes(code))) return own;
    const other = operation.responses['default'];
    const examples = other?.content?.['application/json']?.examples ?? {};
    return Object.hasOwn(examples, `status_${status}`) ? other : undefined;
  }

  /** What is wrong with a body; undefined if it is as described. */
  bodyIssue(response: DescribedResponse, body: Json | undefined): string | undefined {
    const schema = response.content?.['application/json']?.schema;
    return schema === undefined ? undefined : findIssue(schema, body, this.#document.components.schemas);
  }

  /** What is wrong with the header `name` of an answer; undefined if the response does not describe it, or it is as described. */
  headerIssue(response: DescribedResponse, name: string, value: string | undefined): string | undefined {
    const described = Object.entries(response.headers ?? {}).find(
      ([each]) => each.toLowerCase() === name,
    )?.[1];
    if (described === undefined) return undefined;
    if (value === undefined) return `no ${name}`;
    const { $ref } = described;
    const header =
      $ref === undefined
        ? described
        : this.#document.components.headers[$ref.slice($ref.lastIndexOf('/') + 1)];
    const { schema = {} } = header ?? {};
    const read =
      schema.type === 'integer' && /^\d+$/.test(value)
        ? BigInt(value)
        : schema.type === 'boolean'
          ? value === 'true'
          : value;
    return findIssue(schema, read, {}, name) === undefined ? undefined : `${name}: ${value}`;
  }

  /** How the description that a deployment publishes differs from the contract: a sentence each, without a full stop. */
  differences(published: Json | undefined): readonly string[] {
    const components = member(published, 'components');
    const resolve = (value: Json | undefined): Json | undefined => {
      const ref = member(value, '$ref');
      if (typeof ref !== 'string') return value;
      const [kind = '', name = ''] = ref.split('/').slice(-2);
      return member(member(components, kind), name);
    };
    return this.operations.flatMap((operation) => {
      const { method, path, operationId } = operation;
      const found = member(member(member(published, 'paths'), path), method.toLowerCase());
      const name = `${method} ${path}`;
      if (!isObject(found)) return `${name} is missing`;
      const differences = (['operationId', 'deprecated', 'x-stability', 'x-allowance'] as const)
        .filter((field) => member(found, field) !== operation[field])
        .map((field) => `${name} has ${field} ${toText(member(found, field))}`);
      const scopes = elements(member(found, 'security')).flatMap((each) =>
        isObject(each) ? Object.values(each).flatMap(elements).map(toText) : [],
      );
      if (
        scopes.join() !==
        operation.security
          .flatMap((each) => Object.values(each))
          .flat()
          .join()
      )
        differences.push(`${name} needs ${scopes.length === 0 ? 'no scope' : scopes.join(' ')}`);
      const responses = member(found, 'responses');
      for (const status of Object.keys(operation.responses))
        if (!isObject(resolve(member(responses, status))))
          differences.push(`${operationId} has no answer ${status}`);
      return differences;
    });
  }
}
