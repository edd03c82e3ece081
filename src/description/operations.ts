// Contract: sections 3, 6.3 and 9.
import type { Deprecation, Example, Method } from '../api/declaration.ts';
import { errorCodes, type Operation, sunsetDate } from '../api/operation.ts';
import { OPERATIONS } from '../api/index.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { listed } from '../domain/parse.ts';
import { HOLDER_LIMITS } from '../domain/plan.ts';
import { STATUS_OF } from '../http/errors.ts';
import { MALFORMED, otherMethod, TRANSPORT } from '../http/messages.ts';
import { methodsOf } from '../http/request.ts';
import { errorExample, MESSAGES, whenOf } from './errors.ts';
import { grouped, guideLink } from './guide.ts';
import { headerRefs, location, nextLink } from './headers.ts';
import { code } from './markdown.ts';
import { parameterRefs } from './parameters.ts';
import { codeSamples } from './samples.ts';
import { contentOf, json, requestBody } from './schemas.ts';
import type { Refs, Response, Schema } from './types.ts';

export const SECURITY_SCHEME = 'apiKey';

const BADGES = {
  experimental: { name: 'Experimental', color: '#8a3ffc' },
  beta: { name: 'Beta', color: '#0b63c5' },
} as const;

/** What the requests of an operation count against. */
const ALLOWANCES = {
  plan: 'Each request counts against both limits of the plan.',
  holder: `It takes nothing from the plan, and works while the plan is used up or the key is banned: such operations have limits of their own, together ${HOLDER_LIMITS.perMinute} requests a minute and ${grouped(HOLDER_LIMITS.perDay)} a day.`,
} as const;

/** On every response below `/v1`, errors included. */
const ALWAYS = headerRefs(
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
  'Access-Control-Allow-Origin',
);

const VALIDATORS = headerRefs('ETag', 'Cache-Control');
/** On the successes of each method. */
const HEADERS_OF: Readonly<Record<Method, Refs>> = {
  GET: VALIDATORS,
  POST: headerRefs('Idempotent-Replay'),
  PATCH: headerRefs('ETag'),
  DELETE: {},
};

/** On an answer that holds a key. It is never given again. */
const SECRET = headerRefs('NoStore');

const DEPRECATION = headerRefs('Deprecation', 'Sunset', 'DeprecationLinks');

const WAIT = headerRefs('Retry-After');
const ERROR_HEADERS: Partial<Record<(typeof STATUS_OF)[ErrorCode], Refs>> = {
  401: headerRefs('WWW-Authenticate'),
  429: WAIT,
  503: WAIT,
};
/** On the errors of one method. */
const ERROR_HEADERS_OF: Partial<Record<Method, typeof ERROR_HEADERS>> = {
  POST: { 409: WAIT },
  PATCH: { 415: headerRefs('Accept-Patch') },
};

/** An operation in OpenAPI, with code samples for the base address `base`, as one of the group `tag`. */
export function describeOperation(its: Operation, tag: string, base: string) {
  const { id, method, summary, guide, stability, allowance, deprecated, scope, body } = its;
  const pages = [guide, stability === undefined ? undefined : 'Beta and experimental']
    .filter((page) => page !== undefined)
    .map((page) => guideLink(page, base));
  const responses: Responses = { ...successes(its, base), ...errors(its), default: otherRefusal(its) };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description:
      (deprecated === undefined ? '' : banner(deprecated)) +
      its.description +
      (method === 'GET' ? ' HEAD answers the same without a body.' : '') +
      `\n\nNeeds ${scope === undefined ? 'any key' : `a key with the scope ${code(scope)}`}, of an account on any plan. ${ALLOWANCES[allowance ?? 'plan']}` +
      (pages.length === 0 ? '' : `\n\nSee ${listed(pages)}.`),
    ...(deprecated !== undefined && {
      deprecated: true,
      'x-deprecated-sunset': sunsetDate(deprecated),
      'x-deprecated-successor': `GET ${deprecated.successor}`,
    }),
    ...(stability !== undefined && { 'x-stability': stability }),
    ...(allowance !== undefined && { 'x-allowance': allowance }),
    security: [{ [SECURITY_SCHEME]: scope === undefined ? [] : [scope] }],
    parameters: parameterRefs(its),
    ...(body !== undefined && { requestBody: requestBody(method, body) }),
    responses,
    ...(stability !== undefined && { 'x-badges': [BADGES[stability]] }),
    'x-codeSamples': codeSamples(its, base),
  };
}

export type OperationObject = ReturnType<typeof describeOperation>;

/** By status, or `default`. */
type Responses = Readonly<Record<string, Response>>;

/** An alert in Markdown. */
function banner(deprecated: Deprecation): string {
  return `> [!WARNING]\n> **Deprecated.** This operation will be removed on **${sunsetDate(deprecated)}**.\n\n`;
}

function successes(its: Operation, base: string): Responses {
  const address = base + its.path;
  // The path of a POST begins with the collection that it adds to.
  const [collection = ''] = its.path.split('/{');
  const headers = {
    ...('cursor' in its.parameters && { Link: nextLink(address, its.parameters) }),
    ...standingHeaders(its),
  };
  const responses: Record<string, Response> = {};
  for (const [status, { description, content, isSecret }] of Object.entries(its.answers)) {
    const [example] = Object.values(content?.examples ?? {});
    const { id } = (example?.value ?? {}) as { id?: number };
    responses[status] = {
      description,
      headers: {
        ...(status === '201' && { Location: location(base + collection, id) }),
        ...(isSecret ? SECRET : HEADERS_OF[its.method]),
        ...headers,
      },
      ...(content !== undefined && { content: contentOf(content) }),
    };
  }
  if (its.method === 'GET')
    responses['304'] = {
      description: 'The content that `If-None-Match` names still holds. No body.',
      headers: { ...VALIDATORS, ...headers },
    };
  return responses;
}

/** The headers of every response of the operation. */
function standingHeaders({ deprecated }: Operation): Refs {
  return deprecated === undefined ? ALWAYS : { ...DEPRECATION, ...ALWAYS };
}

/** One response for each status, which lists its codes and has an example of each. */
function errors(its: Operation): Responses {
  const responses: Record<string, Response> = {};
  for (const [status, codes] of Map.groupBy(errorCodes(its), (each) => STATUS_OF[each])) {
    const examples: Record<string, Example> = {};
    for (const each of codes)
      examples[each] = {
        summary: `${each}: ${whenOf(each, its)}`,
        value: errorExample(each, MESSAGES[each](its)),
      };
    const schema: Schema = {
      allOf: [{ $ref: '#/components/schemas/Error' }],
      properties: { code: { type: 'string', enum: codes }, status: { const: status } },
    };
    responses[status] = {
      description: alternatives(its, codes),
      headers: {
        ...ERROR_HEADERS[status],
        ...ERROR_HEADERS_OF[its.method]?.[status],
        ...standingHeaders(its),
      },
      content: json(schema, examples),
    };
  }
  return responses;
}

/** When a status is answered, by its codes. */
function alternatives(its: Operation, codes: readonly ErrorCode[]): string {
  const [first, ...others] = codes;
  if (first !== undefined && others.length === 0) return whenOf(first, its);
  const items = codes.map((each) => `- ${code(each)}: ${whenOf(each, its)}`);
  return `One of ${codes.length} codes:\n\n${items.join('\n')}`;
}

/** The refusals that do not depend on the operation: another method, and those of the HTTP layer. */
function otherRefusal({ path }: Operation): Response {
  const methods = methodsOf(OPERATIONS.filter((each) => each.path === path));
  const examples: Record<string, Example> = {};
  const add = (status: number, its: ErrorCode, message: string) => {
    examples[`status_${status}`] = { summary: message, value: errorExample(its, message, status) };
  };
  add(400, 'invalid_request', MALFORMED);
  add(405, 'method_not_allowed', otherMethod(methods));
  for (const [status, message] of Object.entries(TRANSPORT)) add(Number(status), 'invalid_request', message);
  return {
    description:
      'The request was refused before it reached the operation: 405 for a method that the path does not take, ' +
      `400, ${Object.keys(TRANSPORT).join(', ')} by the HTTP layer.`,
    headers: { ...headerRefs('Allow'), ...ALWAYS },
    content: json({ $ref: '#/components/schemas/Error' }, examples),
  };
}
