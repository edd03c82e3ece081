// Contract: sections 1.4, 3, 5 and 6.
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { checkKey, type KeyRecord } from '../domain/account.ts';
import { ApiKeyHash, type Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { reasonOf } from '../domain/startup-error.ts';
import { HOLDER_LIMITS, PAGE_LIMITS, PLANS } from '../domain/plan.ts';
import { lacksScope } from '../domain/scope.ts';
import type { Caller, Decision, RateLimiter } from '../limits/limiter.ts';
import { peek, UNUSED } from '../limits/quota.ts';
import type { KeyUses, UsageCounts } from '../observability/key-usage.ts';
import type { FailedRequests } from '../observability/failed-requests.ts';
import type { RecentRequests } from '../observability/recent-requests.ts';
import { RequestLog } from '../observability/request-log.ts';
import { Outages } from '../observability/outages.ts';
import type { ClientAddress } from './address.ts';
import { readCredentials } from './auth/api-key.ts';
import { type RequestContext, requireBound, runSteps, type Step, type Response } from './context.ts';
import { type Cors, preflightHeaders } from './cors.ts';
import { toFailedRequest } from './failed-request.ts';
import type { Api } from './listener.ts';
import { removed } from './messages.ts';
import { type Operation, sunsetDate } from './operation.ts';
import { rateHeaders, refuseByLimit, decisionHeaders } from './rate-limit.ts';
import { errorResponse } from './response.ts';
import { bindOperations, Routes } from './routes.ts';
import {
  handle,
  readBody,
  readParameters,
  refuseIfDraining,
  refuseIfStoreLost,
  requireDecodedPath,
  requireOperation,
  type ServingState,
} from './steps.ts';
import { type Fields, fields, joinFields, NO_FIELDS } from 'direct-http';

/** Answers for everything that is not below `/v1`: no key, not metered. */
export interface Site {
  /** Paths that count for the address of the client. */
  readonly countedPaths: ReadonlySet<string>;
  /** The path as log and metrics name it; undefined when there is no such path. */
  route(path: string): string | undefined;
  /** Routes whose requests are logged at the level `debug`, because programs and pages ask for them all the time. */
  readonly quietRoutes: ReadonlySet<string>;
  answer(context: Pick<RequestContext, 'path' | 'request'>): Promise<Response>;
}

export interface PublicApiOptions<Uses> {
  readonly operations: readonly Operation<Uses>[];
  readonly uses: Uses;
  readonly site: Site;
  readonly keys: { findByHash(hash: ApiKeyHash): Promise<KeyRecord | undefined> };
  readonly keyUses: Pick<KeyUses, 'record'>;
  readonly usage: Pick<UsageCounts, 'record'>;
  readonly limiter: Pick<RateLimiter, 'charge' | 'peek'>;
  /** Told of each request of a key that is banned, or whose account has used four fifths of its day. */
  readonly recordDecision: (caller: Extract<Caller, { readonly kind: 'key' }>, decision: Decision) => void;
  readonly state: ServingState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Environment;
  /** The base addresses that are known, and that of the running environment. */
  readonly urls: Readonly<Partial<Record<Environment, string>>>;
  readonly base: string;
  readonly addressOf: ClientAddress;
  readonly cors: Cors;
  /** Undefined without CONSOLE_PORT. */
  readonly recent: RecentRequests | undefined;
  readonly failedRequests: Pick<FailedRequests, 'record'>;
}

type Service = Omit<PublicApiOptions<never>, 'operations' | 'uses'> & {
  readonly routes: Routes;
  readonly caching: Fields;
  readonly explainUnknown: (path: string) => string;
  readonly outages: Outages;
};

const serveSite: Step<Service> = (context, service) => {
  if (isBelowApi(context.path)) return undefined;
  return service.site.countedPaths.has(context.path ?? '')
    ? serveCounted(context, service)
    : service.site.answer(context);
};

/** Pages cost more than refusals, and need no key: each address gets PAGE_LIMITS. */
async function serveCounted(context: RequestContext, service: Service): Promise<Response> {
  const address = `pages ${service.addressOf(context.request)}`;
  try {
    const decision = await service.limiter.charge({ kind: 'address', address, limits: PAGE_LIMITS });
    const refusal = refuseByLimit(decision);
    if (refusal !== undefined) return refusal;
  } catch (error) {
    // Whoever looks for help in an outage gets it.
    logUncounted(service, error);
  }
  return service.site.answer(context);
}

const answerPreflight: Step<Service> = ({ request, match }, { routes }) =>
  request.method === 'OPTIONS'
    ? { status: 204, headers: preflightHeaders(match?.route.methods ?? routes.methods) }
    : undefined;

/** Finds the key. A request without a valid one counts for its address. */
const authenticate: Step<Service> = async (context, service) => {
  const { request, startedAt } = context;
  const credentials = readCredentials(request.headers.authorization, service);
  // The await also lets the parser find broken HTTP behind the header block before anything is counted.
  const found = await (credentials instanceof ApiKeyHash ? service.keys.findByHash(credentials) : undefined);
  const checked = credentials instanceof ApiKeyHash ? checkKey(found, startedAt.unix) : credentials;
  if ('error' in checked) {
    context.refusedKey = found;
    const decision = await service.limiter.charge(addressCaller(service, request));
    context.rateHeaders = decisionHeaders(decision);
    return refuseByLimit(decision) ?? errorResponse('unauthorized', checked.message);
  }
  const key = checked.value;
  context.key = key;
  if (request.method !== 'GET' && request.method !== 'HEAD')
    context.actor = { kind: 'key', id: key.id, address: service.addressOf(request) };
  service.keyUses.record(key.id, startedAt.unix);
  return undefined;
};

/** Ban and limits, in one step. Neither closes the holder's windows. */
const charge: Step<Service> = (context, { limiter, recordDecision }) => {
  const caller = keyCaller(context);
  const decision = limiter.charge(caller);
  const apply = (decided: Awaited<typeof decision>) => {
    const { day } = decided.quota;
    const isWatched = decided.kind === 'banned' || day.remaining * 5 <= day.limit;
    if (isWatched && caller.kind === 'key') recordDecision(caller, decided);
    context.rateHeaders = decisionHeaders(decided);
    return refuseByLimit(decided);
  };
  return decision instanceof Promise ? decision.then(apply) : apply(decision);
};

const requireScope: Step<Service> = (context) => {
  const { operation, key } = requireBound(context);
  const { scope } = operation.declaration;
  return scope === undefined || key?.scopes.includes(scope) === true
    ? undefined
    : errorResponse('insufficient_scope', lacksScope(scope));
};

const refuseRemoved: Step<Service> = (context) => {
  const { operation, startedAt } = requireBound(context);
  const { deprecated } = operation.declaration;
  return deprecated !== undefined && startedAt.unix >= deprecated.removal
    ? errorResponse('gone', removed(sunsetDate(deprecated), deprecated.successor))
    : undefined;
};

/** Everything that the public listener checks, in its order. */
const PUBLIC_API: readonly Step<Service>[] = [
  serveSite,
  answerPreflight,
  refuseIfStoreLost,
  authenticate,
  refuseIfDraining,
  charge,
  requireDecodedPath,
  requireOperation,
  requireScope,
  refuseRemoved,
  readParameters,
  readBody,
  handle,
];

/** The API below `/v1`, and the pages beside it. */
export function createPublicApi<Uses>({ operations, uses, ...options }: PublicApiOptions<Uses>): Api {
  const { base, usage, log, recent, failedRequests, site, addressOf } = options;
  const routes = new Routes(bindOperations(operations, uses, base), '/v1');
  const caching = fields('Cache-Control', 'private, no-cache');
  const explainUnknown = routes.explainUnknown.bind(routes);
  const service: Service = { ...options, routes, caching, explainUnknown, outages: new Outages() };
  const requestLog = new RequestLog(log);
  return {
    routes,
    respond: (context) => runSteps(PUBLIC_API, context, service),
    finish(context) {
      if (context.rateHeaders !== undefined) return joinHeaders(context, service, context.rateHeaders);
      if (!context.isRefused && !isBelowApi(context.path)) return NO_FIELDS;
      return peekHeaders(context, service).then((headers) => joinHeaders(context, service, headers));
    },
    nameRoute: (path) => site.route(path),
    record(context, response, { route, duration, waited }) {
      const { status, code } = response;
      const { id, key, request, startedAt, operation, match } = context;
      // One definition of a request for all figures: it has a valid key.
      if (key !== undefined) {
        usage.record(key.id, operation?.index ?? -1, status, startedAt.unix);
        recent?.record(startedAt.unix, status, duration);
      }
      if (isBelowApi(context.path) && status >= 400)
        failedRequests.record(toFailedRequest(context, response, addressOf));
      if (!log.isLevelEnabled('info')) return;
      const { method = '' } = request;
      const durationUs = Math.round(duration * 1000);
      const waitedUs = Math.round(waited * 1000);
      if (match === undefined && site.quietRoutes.has(route))
        log.debug({ id, method, route, status, code, durationMs: durationUs / 1000 }, 'request');
      else requestLog.write({ id, key, method, route, status, code, durationUs, waitedUs });
    },
  };
}

function joinHeaders(
  { request, operation }: RequestContext,
  { cors }: Pick<Service, 'cors'>,
  headers: Fields,
): Fields {
  const { origin } = request.headers;
  return joinFields(
    headers,
    operation?.headers ?? NO_FIELDS,
    origin === undefined ? cors.withoutOrigin : cors.of(origin),
  );
}

/** The rate headers of a request that was not counted: those of its key, or of its address when no key is known. */
async function peekHeaders(context: RequestContext, service: Service): Promise<Fields> {
  const caller = context.key === undefined ? addressCaller(service, context.request) : keyCaller(context);
  try {
    return rateHeaders(await service.limiter.peek(caller));
  } catch (error) {
    // The limits are known without the store that counts, and every request gets an answer.
    logUncounted(service, error);
    return rateHeaders(peek(UNUSED, caller.limits, service.clock()));
  }
}

/** The store that counts addresses is down. */
function logUncounted({ outages, log, clock }: Service, error: unknown): void {
  if (!(error instanceof ServiceError) && outages.begins(reasonOf(error), clock().monotonic))
    log.error({ err: error }, 'an address could not be looked up');
}

function addressCaller(
  { addressOf }: Pick<Service, 'addressOf'>,
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
): Caller {
  return { kind: 'address', address: addressOf(request), limits: PLANS.free };
}

/** Whose windows count the request. What the API lacks counts against the plan. */
function keyCaller({ key, operation }: RequestContext): Caller {
  if (key === undefined) throw new Error('The request has no key.');
  const { id: keyId, account } = key;
  if (operation?.declaration.allowance === 'holder')
    return { kind: 'holder', accountId: account.id, limits: HOLDER_LIMITS };
  return { kind: 'key', keyId, accountId: account.id, limits: account.limits };
}

/** Whether a path is below `/v1`. A path that cannot be decoded counts as such, because its answer needs the rate headers. */
function isBelowApi(path: string | undefined): boolean {
  return path === undefined || path === '/v1' || path.startsWith('/v1/') || path === '*';
}
