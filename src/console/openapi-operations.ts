// Contract: section 10.2.
import { type AnyOperation, pathNames } from '../api/declaration.ts';
import type { AnyParameter } from '../api/parameters.ts';
import type { AdminOperation } from '../admin/operation.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { nextLink } from '../description/headers.ts';
import { schemaRef } from '../description/schemas.ts';
import { errorExample, WHEN } from '../description/errors.ts';
import type { Content, Header, Response } from '../description/types.ts';
import { MEDIA_TYPES } from '../http/body.ts';
import { STATUS_OF } from '../http/errors.ts';
import { LACKS_ROLE } from './admin-api.ts';
import { NO_SESSION, tooManyAttempts } from './access.ts';

/** The meaning of error codes that differ from those of the public API. */
const ABOUT: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'There is no session or token, or it has ended.',
  insufficient_scope: 'The role does not allow it, or the `Origin` of a change is not that of the console.',
  rate_limit_exceeded: 'Too many failed attempts to enter from this address.',
};

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  unauthorized: NO_SESSION,
  insufficient_scope: LACKS_ROLE,
  rate_limit_exceeded: tooManyAttempts('42'),
};

const RETRY_AFTER: Header = {
  description: 'Whole seconds to wait before trying again.',
  schema: { type: 'integer', minimum: 1 },
  example: 17,
};

/** An operation in OpenAPI, as one of the group `tag`. */
export function describeAdminOperation(its: AdminOperation, tag: string) {
  const { id, method, path, summary, description, role, body, parameters } = its;
  const inPath = pathNames(path);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description}\n\nNeeds the role **${role}**.`,
    'x-role': role,
    parameters: Object.entries(parameters).map(([name, each]) =>
      described(name, inPath.includes(name), each),
    ),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        description: body.description,
        content: Object.fromEntries(
          MEDIA_TYPES[method === 'PATCH' ? 'PATCH' : 'POST'].map((type) => [
            type,
            { schema: schemaRef(body.schema), examples: body.examples },
          ]),
        ),
      },
    }),
    responses: { ...successes(its), ...errors(its) },
  };
}

function described(name: string, isInPath: boolean, { description, schema, example }: AnyParameter) {
  return {
    name,
    in: isInPath ? 'path' : 'query',
    required: isInPath,
    description,
    schema: typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema,
    example,
  };
}

function successes({ answers, parameters, path }: AdminOperation): Record<string, Response> {
  const headers = 'cursor' in parameters ? { Link: nextLink(`/admin/v1${path}`) } : {};
  const responses: Record<string, Response> = {};
  for (const [status, { description, content: its }] of Object.entries(answers)) {
    const content = its && { 'application/json': { schema: schemaRef(its.schema), examples: its.examples } };
    responses[status] = { description, headers, ...(content !== undefined && { content }) };
  }
  return responses;
}

/** The codes that an operation answers with, and the faults of every request. */
export function adminErrorCodes({ method, body, errors: own, parameters, path }: AnyOperation): ErrorCode[] {
  const ofBody: ErrorCode[] = ['invalid_request', 'payload_too_large', 'unsupported_media_type'];
  const hasQuery = Object.keys(parameters).length > pathNames(path).length;
  return [
    ...(hasQuery ? (['invalid_parameter'] as const) : []),
    ...(body === undefined ? [] : ofBody),
    ...(method === 'DELETE' ? (['invalid_request'] as const) : []),
    'unauthorized',
    'insufficient_scope',
    ...(Object.keys(own) as ErrorCode[]),
    'rate_limit_exceeded',
    'internal_error',
    'unavailable',
  ];
}

function errors(its: AdminOperation): Record<string, Response> {
  const byStatus = Map.groupBy(adminErrorCodes(its), (code) => STATUS_OF[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => its.errors[code] ?? ABOUT[code] ?? WHEN[code]).join(' Or: '),
        headers: status === 429 || status === 503 ? { 'Retry-After': RETRY_AFTER } : {},
        content: errorContent(its, codes),
      },
    ]),
  );
}

function errorContent({ errors: own }: AdminOperation, codes: readonly ErrorCode[]): Content {
  const examples = codes.map((code) => {
    const message = own[code] ?? MESSAGES[code] ?? WHEN[code];
    return [code, { summary: code, value: errorExample(code, message) }];
  });
  const schema = { $ref: '#/components/schemas/Error' } as const;
  return { 'application/json': { schema, examples: Object.fromEntries(examples) } };
}
