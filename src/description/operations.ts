// Contract: sections 3, 6.3, 9 and 10.2.
import { ERRORS, type ErrorCode } from '../domain/errors.ts';
import type { Role } from '../domain/operator.ts';
import { listed } from '../domain/parse.ts';
import { HOLDER_LIMITS } from '../domain/plan.ts';
import { MALFORMED, otherMethod, TRANSPORT } from '../http/messages.ts';
import {
  type ClientOperation,
  type Deprecation,
  errorCodes,
  type Example,
  type Method,
  type Operation,
  type Stability,
  sunsetDate,
} from '../http/operation.ts';
import { allowedMethods } from '../http/routes.ts';
import { describeError, errorExample } from './errors.ts';
import { grouped, guideLink } from './guide.ts';
import { headerRefs, location, nextLink } from './headers.ts';
import { code } from './markdown.ts';
import { codeSamples } from './samples.ts';
import { toContent, json, requestBody } from './schemas.ts';
import type { Ref, Refs, Response, Schema } from './types.ts';

export const SECURITY_SCHEME = 'apiKey';

/** What the requests of an operation count against. */
const ALLOWANCES = {
  plan: 'Each request counts against both limits of the plan.',
  holder: `It takes nothing from the plan, and works while the plan is used up or the key is banned: such operations have limits of their own, together ${HOLDER_LIMITS.perMinute} requests a minute and ${grouped(HOLDER_LIMITS.perDay)} a day.`,
} as const;

/** On every response to clients, errors included. */
const TO_CLIENTS = headerRefs(
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
  'Access-Control-Allow-Origin',
);

/** On every response to operators. */
const TO_OPERATORS = headerRefs('NoStore', 'X-Request-Id');

const VALIDATORS = headerRefs('ETag', 'Cache-Control');
/** On the successes of each method. */
const HEADERS: Readonly<Record<Method, Refs>> = {
  GET: VALIDATORS,
  POST: headerRefs('Idempotent-Replay'),
  PATCH: headerRefs('ETag'),
  DELETE: {},
};

/** On an answer that holds a key. It is never given again. */
const SECRET = headerRefs('NoStore');

const DEPRECATION = headerRefs('Deprecation', 'Sunset', 'DeprecationLinks');

const WAIT = headerRefs('Retry-After');

/** By status. */
type HeadersByStatus = Readonly<Record<number, Refs>>;

const ERROR_HEADERS: HeadersByStatus = { 401: headerRefs('WWW-Authenticate'), 429: WAIT, 503: WAIT };
/** On the errors of one method. */
const METHOD_ERROR_HEADERS: Partial<Record<Method, HeadersByStatus>> = {
  POST: { 409: WAIT },
  PATCH: { 415: headerRefs('Accept-Patch') },
};

/** What all operations of a description share. */
interface DescriptionContext {
  /** The address that examples begin with. */
  readonly base: string;
  readonly operations: readonly Operation[];
  readonly parameterRefs: (operation: Operation) => Ref[];
}

/** An operation in OpenAPI. */
export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly 'x-deprecated-sunset'?: string;
  readonly 'x-deprecated-successor'?: string;
  readonly 'x-stability'?: Stability;
  readonly 'x-allowance'?: 'holder';
  readonly 'x-role'?: Role;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Ref[];
  readonly requestBody?: ReturnType<typeof requestBody>;
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-codeSamples'?: ReturnType<typeof codeSamples>;
}

/** Describes an operation as one of the group `tag`. */
export function describeOperation(
  operation: Operation,
  tag: string,
  context: DescriptionContext,
): OperationObject {
  const { id, method, summary, body, deprecated } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description:
      (deprecated === undefined ? '' : banner(deprecated)) +
      operation.description +
      (method === 'GET' ? ' HEAD answers the same without a body.' : '') +
      `\n\n${operation.role === undefined ? needsOfClient(operation, context.base) : `Needs the role **${operation.role}**.`}`,
    ...(deprecated !== undefined && {
      deprecated: true,
      'x-deprecated-sunset': sunsetDate(deprecated),
      'x-deprecated-successor': `GET ${deprecated.successor}`,
    }),
    ...(operation.role === undefined ? clientFields(operation) : { 'x-role': operation.role }),
    parameters: context.parameterRefs(operation),
    ...(body !== undefined && { requestBody: requestBody(method, body) }),
    responses: {
      ...successes(operation, context.base),
      ...errors(operation, context.base),
      default: otherRefusal(operation, context.operations),
    },
    ...(operation.role === undefined && clientExtras(operation, context.base)),
  };
}

function needsOfClient({ scope, guide, stability, allowance }: ClientOperation, base: string): string {
  const pages = [guide, stability === undefined ? undefined : 'Beta and experimental']
    .filter((page) => page !== undefined)
    .map((page) => guideLink(page, base));
  return (
    `Needs ${scope === undefined ? 'any key' : `a key with the scope ${code(scope)}`}, of an account on any plan. ${ALLOWANCES[allowance ?? 'plan']}` +
    (pages.length === 0 ? '' : `\n\nSee ${listed(pages)}.`)
  );
}

function clientFields({ scope, stability, allowance }: ClientOperation) {
  return {
    ...(stability !== undefined && { 'x-stability': stability }),
    ...(allowance !== undefined && { 'x-allowance': allowance }),
    security: [{ [SECURITY_SCHEME]: scope === undefined ? [] : [scope] }],
  };
}

function clientExtras(operation: ClientOperation, base: string) {
  return { 'x-codeSamples': codeSamples(operation, base) };
}

/** An alert in Markdown. */
function banner(deprecated: Deprecation): string {
  return `> [!WARNING]\n> **Deprecated.** This operation will be removed on **${sunsetDate(deprecated)}**.\n\n`;
}

function successes(operation: Operation, base: string): Record<string, Response> {
  const { method, path, role, parameters, answer } = operation;
  // The path of a POST begins with the collection that it adds to.
  const [collection = ''] = path.split('/{');
  const isForClients = role === undefined;
  const { status, description, content, noStore } = answer;
  const presence = noStore ? 'On every page, also on an empty one.' : 'Absent on the last page.';
  const headers = {
    ...(isPaged(operation) && { Link: nextLink(base + path, parameters, presence) }),
    ...standingHeaders(operation),
  };
  const [example] = Object.values(content?.examples ?? {});
  const { id } = (example?.value ?? {}) as { id?: number };
  const responses: Record<string, Response> = {
    [status]: {
      description,
      headers: {
        ...(isForClients && status === 201 && { Location: location(base + collection, id) }),
        ...(noStore ? SECRET : isForClients || method !== 'POST' ? HEADERS[method] : {}),
        ...headers,
      },
      ...(content !== undefined && { content: toContent(content) }),
    },
  };
  if (method === 'GET' && !noStore)
    responses['304'] = {
      description: 'The content that `If-None-Match` names still holds. No body.',
      headers: { ...VALIDATORS, ...headers },
    };
  return responses;
}

function isPaged({ parameters }: Operation): boolean {
  return Object.values(parameters).some(({ isCursor }) => isCursor);
}

/** The headers of every response of the operation. */
function standingHeaders({ deprecated, role }: Operation): Refs {
  const always = role === undefined ? TO_CLIENTS : TO_OPERATORS;
  return deprecated === undefined ? always : { ...DEPRECATION, ...always };
}

/** One response for each status, which lists its codes and has an example of each. */
function errors(operation: Operation, base: string): Record<string, Response> {
  const responses: Record<string, Response> = {};
  for (const [status, codes] of Map.groupBy(errorCodes(operation), (each) => ERRORS[each].status)) {
    const examples: Record<string, Example> = {};
    for (const each of codes) {
      const { when, message } = describeError(each, operation);
      examples[each] = { summary: `${each}: ${when}`, value: errorExample(each, message) };
    }
    const schema: Schema = {
      allOf: [{ $ref: '#/components/schemas/Error' }],
      properties: { code: { type: 'string', enum: codes }, status: { const: status } },
    };
    responses[status] = {
      description: alternatives(operation, codes),
      headers: {
        ...ERROR_HEADERS[status],
        ...METHOD_ERROR_HEADERS[operation.method]?.[status],
        ...(codes.includes('cursor_expired') && {
          Link: nextLink(base + operation.path, operation.parameters, 'It begins now.'),
        }),
        ...standingHeaders(operation),
      },
      content: json(schema, examples),
    };
  }
  return responses;
}

/** When a status is answered, by its codes. */
function alternatives(operation: Operation, codes: readonly ErrorCode[]): string {
  const [first, ...others] = codes;
  if (first !== undefined && others.length === 0) return describeError(first, operation).when;
  const items = codes.map((each) => `- ${code(each)}: ${describeError(each, operation).when}`);
  return `One of ${codes.length} codes:\n\n${items.join('\n')}`;
}

/** The refusals that do not depend on the operation: another method, and those of the HTTP layer. */
function otherRefusal(operation: Operation, all: readonly Operation[]): Response {
  const methods = allowedMethods(all.filter(({ path }) => path === operation.path));
  const examples: Record<string, Example> = {};
  const add = (status: number, error: ErrorCode, message: string) => {
    examples[`status_${status}`] = { summary: message, value: errorExample(error, message, status) };
  };
  add(400, 'invalid_request', MALFORMED);
  add(405, 'method_not_allowed', otherMethod(methods));
  for (const [status, message] of Object.entries(TRANSPORT)) add(Number(status), 'invalid_request', message);
  return {
    description:
      'The request was refused before it reached the operation: 405 for a method that the path does not take, ' +
      `400, ${Object.keys(TRANSPORT).join(', ')} by the HTTP layer.`,
    headers: { ...headerRefs('Allow'), ...(operation.role === undefined ? TO_CLIENTS : TO_OPERATORS) },
    content: json({ $ref: '#/components/schemas/Error' }, examples),
  };
}
