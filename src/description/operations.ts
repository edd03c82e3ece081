// Contract: sections 3, 6.3 and 9.
import {
  type Deprecation,
  errorCodes,
  type Example,
  type Method,
  type Operation,
  sunsetDate,
} from '../api/operation.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { STATUS_OF } from '../http/errors.ts';
import { MALFORMED, otherMethod, TRANSPORT } from '../http/messages.ts';
import { errorExample, MESSAGES, WHEN } from './errors.ts';
import { headerRefs } from './headers.ts';
import { code } from './markdown.ts';
import { parameterRefs } from './parameters.ts';
import { codeSamples } from './samples.ts';
import { schemaRef } from './schemas.ts';
import type { Content, Ref, Refs, Response, Schema } from './types.ts';

export const SECURITY_SCHEME = 'apiKey';

const BADGES = {
  experimental: { name: 'Experimental', color: '#8a3ffc' },
  beta: { name: 'Beta', color: '#0b63c5' },
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
  POST: headerRefs('Location', 'Idempotent-Replay'),
  PATCH: headerRefs('ETag'),
  DELETE: {},
};

const DEPRECATION = headerRefs('Deprecation', 'Sunset', 'DeprecationLinks');

const ERROR_HEADERS: Partial<Record<(typeof STATUS_OF)[ErrorCode], Refs>> = {
  401: headerRefs('WWW-Authenticate'),
  409: headerRefs('Retry-After'),
  429: headerRefs('Retry-After'),
  503: headerRefs('Retry-After'),
};

/** An operation in OpenAPI, with code samples for the base address `base`, as one of the group `tag`. */
export function describeOperation(its: Operation, tag: string, base: string) {
  const { id, method, summary, stability, deprecated, scope, body } = its;
  const responses: Responses = { ...successes(its), ...errors(its), default: otherRefusal() };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description:
      (deprecated === undefined ? '' : banner(deprecated)) +
      its.description +
      (method === 'GET' ? ' HEAD answers the same without a body.' : '') +
      `\n\nNeeds a key with the scope ${code(scope)}, of an account on any plan. Each request counts against both limits of the plan.`,
    ...(deprecated !== undefined && { deprecated: true, 'x-deprecated-sunset': sunsetDate(deprecated) }),
    ...(stability !== undefined && { 'x-stability': stability }),
    security: [{ [SECURITY_SCHEME]: [scope] }],
    parameters: parameterRefs(its),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        description: body.description,
        content: json(schemaRef(body.schema), body.examples),
      },
    }),
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

function successes(its: Operation): Responses {
  const headers = {
    ...HEADERS_OF[its.method],
    ...('cursor' in its.parameters ? headerRefs('NextLink') : {}),
    ...standingHeaders(its),
  };
  const responses: Record<string, Response> = {};
  for (const [status, { description, content }] of Object.entries(its.answers))
    responses[status] = {
      description,
      headers,
      ...(content !== undefined && { content: json(schemaRef(content.schema), content.examples) }),
    };
  if (its.method === 'GET')
    responses['304'] = {
      description: 'The content that `If-None-Match` names still holds. No body.',
      headers,
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
        summary: `${each}: ${WHEN[each]}`,
        value: errorExample(each, MESSAGES[each](its)),
      };
    const schema: Schema = {
      allOf: [{ $ref: '#/components/schemas/Error' }],
      properties: { code: { type: 'string', enum: codes }, status: { const: status } },
    };
    responses[status] = {
      description: alternatives(codes),
      headers: { ...ERROR_HEADERS[status], ...standingHeaders(its) },
      content: json(schema, examples),
    };
  }
  return responses;
}

/** When a status is answered, by its codes. */
function alternatives(codes: readonly ErrorCode[]): string {
  const [first, ...others] = codes;
  if (first !== undefined && others.length === 0) return WHEN[first];
  return `One of ${codes.length} codes:\n\n${codes.map((each) => `- ${code(each)}: ${WHEN[each]}`).join('\n')}`;
}

/** The refusals that do not depend on the operation: another method, and those of the HTTP layer. */
function otherRefusal(): Response {
  const examples: Record<string, Example> = {};
  const add = (status: number, its: ErrorCode, message: string) => {
    examples[`status_${status}`] = { summary: message, value: errorExample(its, message, status) };
  };
  add(400, 'invalid_request', MALFORMED);
  add(405, 'method_not_allowed', otherMethod('GET, HEAD, POST, OPTIONS'));
  for (const [status, message] of Object.entries(TRANSPORT)) add(Number(status), 'invalid_request', message);
  return {
    description:
      'The request was refused before it reached the operation: 405 for a method that the path does not take, ' +
      `400, ${Object.keys(TRANSPORT).join(', ')} by the HTTP layer.`,
    headers: { ...headerRefs('Allow'), ...ALWAYS },
    content: json({ $ref: '#/components/schemas/Error' }, examples),
  };
}

function json(schema: Schema | Ref, examples: Record<string, Example>): Content {
  return { 'application/json': { schema, examples } };
}
