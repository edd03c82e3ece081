import type { ErrorCode } from '../../domain/errors.ts';
import { STATUS_OF, type TransportStatus } from '../errors.ts';
import { ERRORS, errorExample } from './errors.ts';
import { headerRefs } from './headers.ts';
import { schemaRef } from './schemas.ts';
import type { Content, Example, Ref, Response, Responses } from './types.ts';

type HeaderRefs = Readonly<Record<string, Ref>>;

/** On every response below `/v1`, errors included (spec §8; decisions §4, §6). */
const ALWAYS = headerRefs(
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
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

/** Messages for what the HTTP layer refuses before any operation sees it (decisions §2). */
const TRANSPORT: Readonly<Record<TransportStatus, string>> = {
  408: 'The request took too long to arrive.',
  417: 'The only expectation that is met is 100-continue.',
  431: 'The header block is too large.',
};

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
      { summary: ERRORS[code].when, value: errorExample(code, messages[code] ?? ERRORS[code].message) },
    ]);
    const response: Response = {
      description: codes.map((code) => ERRORS[code].when).join(' '),
      headers: { ...HEADERS_OF[status], ...headers, ...ALWAYS },
      content: json(
        {
          allOf: [{ ...schemaRef('Error') }],
          properties: { code: { enum: codes }, status: { const: status } },
        },
        Object.fromEntries(examples),
      ),
    };
    return [status, response] as const;
  });
  return { ...Object.fromEntries(responses), default: transportRefusal() };
}

function transportRefusal(): Response {
  const examples = Object.entries(TRANSPORT).map(([status, message]): [string, Example] => [
    `status_${status}`,
    { summary: message, value: errorExample('invalid_request', message, Number(status)) },
  ]);
  return {
    description: `The request was refused before it reached the operation: ${Object.keys(TRANSPORT).join(', ')}.`,
    headers: ALWAYS,
    content: json(schemaRef('Error'), Object.fromEntries(examples)),
  };
}

function json(schema: Content['application/json']['schema'], examples: Record<string, Example>): Content {
  return { 'application/json': { schema, examples } };
}
