// Contract: sections 3 and 6.
import type { ErrorCode } from '../../domain/errors.ts';
import { STATUS_OF } from '../errors.ts';
import { MALFORMED, TRANSPORT } from '../messages.ts';
import { ERRORS, errorExample } from './errors.ts';
import { headerRefs } from './headers.ts';
import { schemaRef } from './schemas.ts';
import type { Content, Example, Ref, Response, Responses } from './types.ts';

type HeaderRefs = Readonly<Record<string, Ref>>;

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

const HEADERS_OF: Partial<Record<(typeof STATUS_OF)[ErrorCode], HeaderRefs>> = {
  401: headerRefs('WWW-Authenticate'),
  409: headerRefs('Retry-After'),
  429: headerRefs('Retry-After'),
  503: headerRefs('Retry-After'),
};

/** What any operation can answer. */
const COMMON: readonly ErrorCode[] = [
  'unauthorized',
  'insufficient_scope',
  'rate_limit_exceeded',
  'daily_limit_exceeded',
  'key_banned',
  'internal_error',
  'unavailable',
];

export function success(
  description: string,
  headers: HeaderRefs,
  schema: 'Pet' | 'Pets',
  examples: Record<string, Example>,
): Response {
  return { description, headers: { ...headers, ...ALWAYS }, content: json(schemaRef(schema), examples) };
}

/** 304: the client has the content already. */
export function notModified(headers: HeaderRefs): Responses {
  return {
    304: {
      description: 'The content that `If-None-Match` names still holds. No body.',
      headers: { ...headers, ...ALWAYS },
    },
  };
}

/**
 * The error responses of an operation that can give `own` codes besides those that any can: one for each status, which
 * lists its codes and gives an example of each. `messages` are this operation's own; `headers` are on all of them.
 */
export function errors(
  own: readonly ErrorCode[],
  headers: HeaderRefs = {},
  messages: Partial<Record<ErrorCode, string>> = {},
): Responses {
  const byStatus = Map.groupBy([...own, ...COMMON], (code) => STATUS_OF[code]);
  const responses = [...byStatus].map(([status, codes]) => {
    const examples = codes.map((code): [string, Example] => [
      code,
      {
        summary: `${code}: ${ERRORS[code].when}`,
        value: errorExample(code, messages[code] ?? ERRORS[code].message),
      },
    ]);
    const response: Response = {
      description: codes.map((code) => ERRORS[code].when).join(' '),
      headers: { ...HEADERS_OF[status], ...headers, ...ALWAYS },
      content: json(
        {
          allOf: [{ ...schemaRef('Error') }],
          properties: { code: { type: 'string', enum: codes }, status: { const: status } },
        },
        Object.fromEntries(examples),
      ),
    };
    return [status, response] as const;
  });
  return { ...Object.fromEntries(responses), default: otherRefusal() };
}

/** What is refused whatever the operation: another method, and what the HTTP layer has against the request. */
function otherRefusal(): Response {
  const refusals: [status: number, code: ErrorCode, message: string][] = [
    [400, 'invalid_request', MALFORMED],
    [405, 'method_not_allowed', ERRORS.method_not_allowed.message],
    ...Object.entries(TRANSPORT).map(([status, message]): [number, ErrorCode, string] => [
      Number(status),
      'invalid_request',
      message,
    ]),
  ];
  const examples = refusals.map(([status, code, message]): [string, Example] => [
    `status_${status}`,
    { summary: message, value: errorExample(code, message, status) },
  ]);
  return {
    description:
      'The request was refused before it reached the operation: 405 for a method that the path does not take, ' +
      `400, ${Object.keys(TRANSPORT).join(', ')} by the HTTP layer.`,
    headers: { ...headerRefs('Allow'), ...ALWAYS },
    content: json(schemaRef('Error'), Object.fromEntries(examples)),
  };
}

function json(schema: Content['application/json']['schema'], examples: Record<string, Example>): Content {
  return { 'application/json': { schema, examples } };
}
