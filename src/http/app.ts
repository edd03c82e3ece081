import type { IncomingMessage } from 'node:http';
import { type ErrorCode, ServiceError } from '../domain/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { Api, type ApiDependencies } from './pipeline.ts';
import { ClientGone } from './body.ts';
import type { Cors } from './cors.ts';
import { errorReply } from './errors.ts';
import { type Exchange, parseTarget, requestId } from './request.ts';
import { internalError, SHUTTING_DOWN } from './messages.ts';
import type { Reply } from './wire/response.ts';
import { joinFields, NO_FIELDS, trustedFields } from './wire/text.ts';
import type { Fault, RecentRequests } from './recent.ts';
import type { RequestMetrics } from './request-counts.ts';
import type { UsageCounts } from './key-usage.ts';
import { RequestLog } from './wire/request-log.ts';
import type { Response } from './wire/wire.ts';

/** Answers for everything that is not below `/v1`: no key, not metered. */
export interface Site {
  /** The path as log and metrics name it; undefined when there is no such path. */
  route(path: string): string | undefined;
  /** Routes whose requests are logged at the level `debug`, because programs and pages ask for them all the time. */
  readonly quietRoutes: ReadonlySet<string>;
  answer(exchange: Exchange): Promise<Reply>;
}

export interface AppDependencies extends ApiDependencies {
  readonly site: Site;
  readonly cors: Cors;
  readonly clock: Clock;
  readonly usage: Pick<UsageCounts, 'note'>;
  /** Undefined without METRICS_PORT: nothing is measured. */
  readonly metrics: RequestMetrics | undefined;
  /** Undefined without CONSOLE_PORT. */
  readonly recent: RecentRequests | undefined;
}

/** Milliseconds. */
const OUTAGE_LOG_INTERVAL = 1_000;

/** Handles every request, below `/v1` and elsewhere. */
export class App {
  readonly #deps: AppDependencies;
  readonly #api: Api;
  readonly #requestLog: RequestLog;
  /** The reason that was logged last, and when, in monotonic milliseconds. */
  #lastOutage = { reason: '', at: Number.NEGATIVE_INFINITY };
  /** An array, because V8 promotes the entries of a Map or Set that changes all the time to the old generation. */
  readonly #inFlight: Exchange[] = [];

  constructor(deps: AppDependencies) {
    this.#deps = deps;
    this.#api = new Api(deps);
    this.#requestLog = new RequestLog(deps.log);
  }

  /** How many requests were accepted and are not answered yet. */
  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** Answers one request, with `refusal` if the HTTP layer refuses it. It never rejects. */
  readonly handle = async (request: IncomingMessage, response: Response, refusal?: Reply): Promise<void> => {
    const exchange = this.#begin(request, response);
    try {
      let reply: Reply;
      try {
        reply = refusal ?? (await this.#answer(exchange));
      } catch (error) {
        reply = this.#faultReply(exchange, error);
      }
      if (exchange.rateHeaders === undefined && (refusal !== undefined || isApi(exchange)))
        exchange.rateHeaders = await this.#api.rateHeaders(request);
      this.#write(exchange, reply);
      this.#log(exchange, reply);
    } catch (error) {
      this.#noAnswer(exchange, error);
    } finally {
      this.#end(exchange);
    }
  };

  /** Answers every request in flight with 503, because the service stops. */
  async abandon(): Promise<void> {
    const reply = errorReply('unavailable', SHUTTING_DOWN);
    await Promise.all(
      [...this.#inFlight].map((exchange) => this.#writeEarly(exchange, reply, isApi(exchange))),
    );
  }

  /** Answers a request with `refusal` because its body does not arrive as it should. False when it is answered already. */
  readonly interrupt = (request: IncomingMessage, refusal: Reply): boolean => {
    const exchange = this.#inFlight.find((each) => each.request === request);
    if (exchange === undefined || exchange.response.headersSent) return false;
    exchange.response.shouldKeepAlive = false;
    this.#writeEarly(exchange, refusal, true).then(
      () => this.#log(exchange, refusal),
      (error: unknown) => this.#noAnswer(exchange, error),
    );
    return true;
  };

  #begin(request: IncomingMessage, response: Response): Exchange {
    const { path, query } = parseTarget(request.url ?? '/');
    const match = path === undefined ? undefined : this.#deps.routes.match(path);
    const exchange: Exchange = {
      request,
      response,
      place: this.#inFlight.length,
      id: requestId(request.headers['x-request-id']),
      startedAt: this.#deps.clock(),
      path,
      query,
      match,
      served: match?.route.operations[request.method ?? ''],
      key: undefined,
      rateHeaders: undefined,
    };
    this.#inFlight.push(exchange);
    return exchange;
  }

  /** The last request in flight takes the place of this one. */
  #end(exchange: Exchange): void {
    const last = this.#inFlight.pop();
    if (last === undefined || last === exchange) return;
    last.place = exchange.place;
    this.#inFlight[exchange.place] = last;
  }

  /** Answers while the operation may still run. Its own answer is dropped later. */
  async #writeEarly(exchange: Exchange, reply: Reply, needsRateHeaders: boolean): Promise<void> {
    if (needsRateHeaders) exchange.rateHeaders ??= await this.#api.rateHeaders(exchange.request);
    this.#write(exchange, reply);
  }

  #noAnswer({ id, response }: Exchange, error: unknown): void {
    if (error instanceof ClientGone) {
      // An early answer is logged already.
      if (!response.headersSent) this.#deps.log.info({ id }, 'client went away');
      return;
    }
    this.#deps.log.error({ id, err: error }, 'no answer could be written');
    response.destroy();
  }

  #answer(exchange: Exchange): Promise<Reply> {
    return isApi(exchange) ? this.#api.answer(exchange) : this.#deps.site.answer(exchange);
  }

  /** The answer to a request whose handling threw `error`. Throws it again when nobody is left to answer. */
  #faultReply(exchange: Exchange, error: unknown): Reply {
    if (error instanceof ClientGone) throw error;
    if (error instanceof ServiceError) {
      this.#logOutage(exchange, error);
      return errorReply(error.code, error.message);
    }
    this.#deps.log.error({ id: exchange.id, err: error }, 'internal error');
    return errorReply('internal_error', internalError(exchange.id));
  }

  /** Logs the reason without a stack, and the same reason at most once a second, because many requests meet one outage. */
  #logOutage({ id, startedAt }: Exchange, { message, cause }: ServiceError): void {
    const reason = cause instanceof Error ? cause.message : message;
    const last = this.#lastOutage;
    if (last.reason === reason && startedAt.monotonic - last.at < OUTAGE_LOG_INTERVAL) return;
    this.#lastOutage = { reason, at: startedAt.monotonic };
    this.#deps.log.warn({ id, reason }, message);
  }

  #write(exchange: Exchange, { status, headers, body }: Reply): void {
    const { request, response, id, key, served, rateHeaders, startedAt } = exchange;
    // The request was answered early.
    if (response.headersSent) return;
    let all = joinFields(headers, trustedFields(`X-Request-Id: ${id}\r\n`));
    if (rateHeaders !== undefined) {
      const ofOperation = served?.headers ?? NO_FIELDS;
      const { cors } = this.#deps;
      const { origin } = request.headers;
      all = joinFields(
        all,
        rateHeaders,
        ofOperation,
        origin === undefined ? cors.withoutOrigin : cors.of(origin),
      );
    }
    // Only the last answer closes the connection, because the answers behind an earlier one would be lost.
    if (this.#deps.state.isDraining && !response.isFollowed) response.shouldKeepAlive = false;
    response.send(status, all, body);
    if (key !== undefined) this.#deps.usage.note(key.id, served?.index ?? -1, status, startedAt.unix);
    // The rest of an unread body is dropped, so that the connection can go on.
    if (!request.complete) request.resume();
  }

  #log(exchange: Exchange, { status, code }: Reply): void {
    const { clock, log, metrics, recent, site } = this.#deps;
    const isLogged = log.isLevelEnabled('info');
    if (!isLogged && metrics === undefined && recent === undefined) return;
    const { id, key, request, startedAt } = exchange;
    const { method = '' } = request;
    const duration = clock().monotonic - startedAt.monotonic;
    const route = this.#route(exchange);
    metrics?.observe(method, route, status, code, key?.account.plan, duration / 1000);
    if (recent !== undefined && isApi(exchange)) {
      recent.note(startedAt.unix, status, duration);
      if (status >= 400) recent.noteFault(faultOf(exchange, status, code));
    }
    if (!isLogged) return;
    const durationUs = Math.round(duration * 1000);
    if (exchange.match === undefined && site.quietRoutes.has(route)) {
      log.debug({ id, method, route, status, code, durationMs: durationUs / 1000 }, 'request');
      return;
    }
    this.#requestLog.write({ id, key, method, route, status, code, durationUs });
  }

  /** For log and metrics. Never the path itself, because it may hold anything, even a key. */
  #route({ match, path }: Exchange): string {
    return (
      match?.route.template ?? (path === undefined ? undefined : this.#deps.site.route(path)) ?? 'unknown'
    );
  }
}

function faultOf(
  { id, startedAt, request, served, key }: Exchange,
  status: number,
  code: ErrorCode | undefined,
): Omit<Fault, 'id'> {
  return {
    at: startedAt.unix,
    requestId: id,
    method: request.method ?? '',
    operation: served?.operation.id,
    status,
    code,
    keyId: key?.id,
    accountId: key?.account.id,
    account: key?.account.name,
  };
}

/** Whether a path is below `/v1`. A path that cannot be decoded counts as such, because its answer needs the rate headers. */
function isApi({ path }: { path: string | undefined }): boolean {
  return path === undefined || path === '/v1' || path.startsWith('/v1/') || path === '*';
}
