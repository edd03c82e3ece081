// Contract: section 10.2.
import { bodyErrors, queryParameters } from '../api/declaration.ts';
import type { AdminOperation } from '../admin/operation.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { nextLink, RETRY_AFTER } from '../description/headers.ts';
import { parametersOf } from '../description/parameters.ts';
import { contentOf, ErrorBody, requestBody } from '../description/schemas.ts';
import { errorExample, WHEN } from '../description/errors.ts';
import type { Content, Response } from '../description/types.ts';
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

/** An operation in OpenAPI, as one of the group `tag`. */
export function describeAdminOperation(its: AdminOperation, tag: string) {
  const { id, method, summary, description, role, body } = its;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: `${description}\n\nNeeds the role **${role}**.`,
    'x-role': role,
    parameters: parametersOf(its),
    ...(body !== undefined && { requestBody: requestBody(method, body) }),
    responses: { ...successes(its), ...errors(its) },
  };
}

function successes({ answers, parameters, path }: AdminOperation): Record<string, Response> {
  const headers = 'cursor' in parameters ? { Link: nextLink(`/admin/v1${path}`, parameters) } : {};
  const responses: Record<string, Response> = {};
  for (const [status, { description, content }] of Object.entries(answers))
    responses[status] = { description, headers, ...(content && { content: contentOf(content) }) };
  return responses;
}

/** One response for each status, also for the faults of every request. */
function errors(its: AdminOperation): Record<string, Response> {
  const all: ErrorCode[] = [
    ...(queryParameters(its).length > 0 ? (['invalid_parameter'] as const) : []),
    ...bodyErrors(its),
    'unauthorized',
    'insufficient_scope',
    ...(Object.keys(its.errors) as ErrorCode[]),
    'rate_limit_exceeded',
    'internal_error',
    'unavailable',
  ];
  return Object.fromEntries(
    [...Map.groupBy(all, (code) => STATUS_OF[code])].map(([status, codes]) => [
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
  return contentOf({ schema: ErrorBody, examples: Object.fromEntries(examples) });
}
