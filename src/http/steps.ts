// Contract: sections 3 and 4.
import { readContent } from './body.ts';
import { AnswerAwaited, requireBound, type Step } from './context.ts';
import { BAD_ENCODING, STORE_LOST } from './messages.ts';
import type { ClientCall, OperatorCall } from './operation.ts';
import { readValues } from './parameters.ts';
import { errorResponse, otherMethodResponse, type ResponseOptions, toResponse } from './response.ts';
import { fields } from 'direct-http';

/* The steps that both listeners share. */

/** What the service may do now. The gate and the stop change it while requests run. */
export interface ServingState {
  /** False while the store cannot be relied on. Requests that are counted then may be counted twice, or lost. */
  readonly isOpen: boolean;
  /** Whether the service is stopping. */
  readonly isDraining: boolean;
}

export const refuseIfStoreLost: Step<{ readonly state: ServingState }> = (_, { state }) =>
  state.isOpen ? undefined : errorResponse('unavailable', STORE_LOST);

export const refuseIfDraining: Step<{ readonly state: ServingState }> = (_, { state }) =>
  state.isDraining ? errorResponse('unavailable') : undefined;

export const requireDecodedPath: Step<unknown> = ({ path }) =>
  path === undefined ? errorResponse('invalid_request', BAD_ENCODING) : undefined;

export const requireOperation: Step<{ readonly explainUnknown: (path: string) => string }> = (
  context,
  { explainUnknown },
) => {
  const { match, operation, request, path } = context;
  if (match === undefined) return errorResponse('not_found', explainUnknown(path ?? ''));
  const { methods } = match.route;
  if (request.method === 'OPTIONS') return { status: 204, headers: fields('Allow', methods) };
  return operation === undefined ? otherMethodResponse(methods) : undefined;
};

export const readParameters: Step<unknown> = (context) => {
  const { operation, match, query } = requireBound(context);
  const values = readValues(operation, match.values, query);
  // The path names nothing that can exist.
  if (values === undefined) return errorResponse('not_found', operation.declaration.errors.not_found);
  context.parameters = values;
  return undefined;
};

export const readBody: Step<unknown> = (context) =>
  requireBound(context).operation.declaration.method === 'GET'
    ? undefined
    : readContent(requireBound(context));

export const handle: Step<ResponseOptions> = async (context, options) => {
  const { operation, request, waits, key, operator, origin, actor, parameters, body, idempotency } =
    requireBound(context);
  const ifMatch = entityTags(request.headers['if-match']);
  const accountId = key?.account.id;
  const signal = new AnswerAwaited(context);
  const call = {
    request,
    signal,
    waits,
    key,
    accountId,
    operator,
    origin,
    actor,
    parameters,
    body,
    ifMatch,
    idempotency,
  };
  // The steps before have let the caller in.
  const result = await operation.handle(call as ClientCall & OperatorCall);
  return toResponse(requireBound(context), result, options);
};

/** The entity tags that an `If-Match` header lists. */
function entityTags(header: string | undefined): readonly string[] | undefined {
  return header?.split(',').map((tag) => tag.trim());
}
