// Contract: sections 4 and 10.2.
import type { FailedRequest } from '../observability/failed-requests.ts';
import type { ClientAddress } from './address.ts';
import type { RequestContext, Response } from './context.ts';
import type { BoundOperation } from './routes.ts';

/** What is kept of a request that was answered with an error. */
export function toFailedRequest(
  { id, startedAt, request, match, operation, key, refusedKey }: RequestContext,
  // Every error response has both.
  { status, code = 'internal_error', message = '' }: Response,
  addressOf: ClientAddress,
): Omit<FailedRequest, 'id'> {
  const sent = key ?? refusedKey;
  return {
    at: startedAt.unix,
    requestId: id,
    method: request.method ?? '',
    path: match?.route.template,
    operation: operation?.declaration.id,
    status,
    code,
    message,
    parameter: status === 400 ? findSubject(operation, message) : undefined,
    keyId: sent?.id,
    accountId: sent?.account.id,
    account: sent?.account.name,
    address: addressOf(request),
    userAgent: request.headers['user-agent'],
  };
}

/** A message about a parameter or a field begins with its name. */
const SUBJECT = /^(?:The parameter |The )?([\w-]+)/;

/** The query parameter, field or header that the message of a 400 is about. */
function findSubject(operation: BoundOperation | undefined, message: string): string | undefined {
  const [, subject = ''] = SUBJECT.exec(message) ?? [];
  if (operation === undefined) return undefined;
  const { parameters, body } = operation.declaration;
  const isKnown =
    Object.hasOwn(parameters, subject) ||
    (body !== undefined && Object.hasOwn(body.schema.shape, subject)) ||
    subject === 'Idempotency-Key';
  return isKnown ? subject : undefined;
}
