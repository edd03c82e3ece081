import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { PetStoreError } from '../domain/errors.ts';
import type { Clock } from '../domain/clock.ts';
import { Api, type ApiDependencies } from './api.ts';
import { ClientGone } from './body.ts';
import type { Cors } from './cors.ts';
import { errorReply } from './errors.ts';
import { type Exchange, parseTarget, requestId } from './exchange.ts';
import { HostCheck } from './host.ts';
import { internalError, SHUTTING_DOWN } from './messages.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { InFlight } from './in-flight.ts';
import type { Reply } from './reply.ts';
import { RequestLog } from './request-log.ts';
import type { Response } from './response.ts';
import type { Match } from './routes.ts';
import type { Site } from './site.ts';

export interface AppDependencies extends ApiDependencies {
  readonly matchRoute: (path: string) => Match | undefined;
  readonly site: Site;
  readonly cors: Cors;
  readonly clock: Clock;
  readonly log: Logger;
  /** Undefined without METRICS_PORT: nothing is measured. */
  readonly metrics: RequestMetrics | undefined;
}

/** The request handler: reads the request's way from top to bottom. */
export class App {
  readonly #deps: AppDependencies;
  readonly #api: Api;
  readonly #requestLog: RequestLog;
  readonly #inFlight = new InFlight();
  readonly #host = new HostCheck();

  constructor(deps: AppDependencies) {
    this.#deps = deps;
    this.#api = new Api(deps);
    this.#requestLog = new RequestLog(deps.log);
  }

  /** How many requests were accepted and are not answered yet. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Answers one request, with `refusal` if the HTTP layer refuses it. Never rejects. */
  readonly handle = async (request: IncomingMessage, response: Response, refusal?: Reply): Promise<void> => {
    const exchange = this.#begin(request, response);
    this.#inFlight.add(exchange);
    try {
      let reply: Reply;
      try {
        reply = refusal ?? this.#host.fault(request) ?? (await this.#answer(exchange));
      } catch (error) {
        reply = this.#faultReply(exchange, error);
      }
      if (exchange.rateHeaders === undefined && isApi(exchange))
        exchange.rateHeaders = await this.#api.rateHeaders(request);
      this.#write(exchange, reply);
      this.#log(exchange, reply);
    } catch (error) {
      this.#noAnswer(exchange, error);
    } finally {
      this.#inFlight.delete(exchange);
    }
  };

  /** Answers whatever is still in flight with 503, for the service ends. */
  async abandon(): Promise<void> {
    const reply = errorReply('unavailable', SHUTTING_DOWN);
    await Promise.all(this.#inFlight.all().map((exchange) => this.#writeEarly(exchange, reply)));
  }

  /** Answers a request whose body does not arrive as it should with `refusal`. False when it is answered already. */
  interrupt(request: IncomingMessage, refusal: Reply): boolean {
    const exchange = this.#inFlight.all().find((each) => each.request === request);
    if (exchange === undefined || exchange.response.headersSent) return false;
    exchange.response.shouldKeepAlive = false;
    this.#writeEarly(exchange, refusal).then(
      () => this.#log(exchange, refusal),
      (error: unknown) => this.#noAnswer(exchange, error),
    );
    return true;
  }

  #begin(request: IncomingMessage, response: Response): Exchange {
    const { path, query } = parseTarget(request.url ?? '/');
    return {
      request,
      response,
      place: -1,
      id: requestId(request.headers['x-request-id']),
      startedAt: this.#deps.clock(),
      path,
      query,
      match: path === undefined ? undefined : this.#deps.matchRoute(path),
    };
  }

  /** Answers while the operation may still be at work; what it gives later is dropped. */
  async #writeEarly(exchange: Exchange, reply: Reply): Promise<void> {
    if (isApi(exchange)) exchange.rateHeaders ??= await this.#api.rateHeaders(exchange.request);
    this.#write(exchange, reply);
  }

  #noAnswer({ id, response }: Exchange, error: unknown): void {
    if (error instanceof ClientGone) {
      // An answer that was given early is logged already.
      if (!response.headersSent) this.#deps.log.info({ id }, 'client went away');
      return;
    }
    this.#deps.log.error({ id, err: error }, 'no answer could be written');
    response.destroy();
  }

  #answer(exchange: Exchange): Promise<Reply> {
    return isApi(exchange) ? this.#api.answer(exchange) : this.#deps.site.answer(exchange);
  }

  /** The answer when there is none of the operation's own. Throws what says that nobody is left to answer. */
  #faultReply(exchange: Exchange, error: unknown): Reply {
    if (error instanceof ClientGone) throw error;
    if (error instanceof PetStoreError) {
      // Many requests meet the same outage: its reason is enough, without a stack each.
      const reason = error.cause instanceof Error ? error.cause.message : error.message;
      this.#deps.log.warn({ id: exchange.id, reason }, error.message);
      return errorReply(error.code, error.message);
    }
    this.#deps.log.error({ id: exchange.id, err: error }, 'internal error');
    return errorReply('internal_error', internalError(exchange.id));
  }

  #write({ request, response, id, match, rateHeaders }: Exchange, { status, headers, body }: Reply): void {
    // Answered already, when the service ended before the operation did.
    if (response.headersSent) return;
    let all = `${headers}X-Request-Id: ${id}\r\n`;
    if (rateHeaders !== undefined) {
      all +=
        rateHeaders +
        (match?.route.operations[request.method ?? '']?.headers ?? '') +
        this.#deps.cors(request.headers.origin);
    }
    // The last answer closes the connection: behind an earlier one the others would be lost.
    if (this.#deps.isDraining() && !response.isFollowed) response.shouldKeepAlive = false;
    response.send(status, all, body);
    // What is left of a body that nobody asked for is dropped, so that the connection can go on.
    if (!request.complete) request.resume();
  }

  #log(exchange: Exchange, { status, code }: Reply): void {
    const { clock, log, metrics } = this.#deps;
    const isLogged = log.isLevelEnabled('info');
    if (!isLogged && metrics === undefined) return;
    const { id, key, request, startedAt } = exchange;
    const { method = '' } = request;
    const duration = clock().monotonic - startedAt.monotonic;
    const route = this.#route(exchange);
    metrics?.observe(method, route, status, duration / 1000);
    if (!isLogged) return;
    const durationUs = Math.round(duration * 1000);
    this.#requestLog.write({ id, key, method, route, status, code, durationUs });
  }

  /** For log and metrics: never the path itself, which may hold anything, a key included. */
  #route({ match, path }: Exchange): string {
    return (
      match?.route.template ?? (path === undefined ? undefined : this.#deps.site.route(path)) ?? 'unknown'
    );
  }
}

/** Below `/v1`; so is what cannot be decoded, for then the Error body and the rate headers are the safe answer. */
function isApi({ path }: { path: string | undefined }): boolean {
  return path === undefined || path === '/v1' || path.startsWith('/v1/') || path === '*';
}
