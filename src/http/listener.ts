import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { Outages } from '../observability/outages.ts';
import type { RequestMetrics } from '../observability/request-metrics.ts';
import { ACCEPT_PATCH } from './body.ts';
import { ClientGone, parseTarget, type RequestContext, requestId, type Response } from './context.ts';
import { internalError } from './messages.ts';
import { errorResponse } from './response.ts';
import type { Routes } from './routes.ts';
import type { ServingState } from './steps.ts';
import { Waits } from './waits.ts';
import {
  type Fields,
  type Handlers,
  joinFields,
  NO_FIELDS,
  type ResponseWriter,
  trustedFields,
} from 'direct-http';

/** What one listener does with its requests. */
export interface Api {
  readonly routes: Routes;
  /** Runs the steps of a request. */
  respond(context: RequestContext): Promise<Response>;
  /** The header fields that this listener adds to every response. Rejects for nothing that an outage can cause. */
  finish(context: RequestContext, response: Response): Fields | Promise<Fields>;
  /** The path as log and metrics name it, if it is one that no operation has. */
  nameRoute(path: string): string | undefined;
  /** Counts and logs a response that was sent. */
  record(context: RequestContext, response: Response, measured: Measured): void;
}

interface Measured {
  /** For log and metrics. Never the path itself, because it may hold anything, even a key. */
  readonly route: string;
  /** Milliseconds of work. */
  readonly duration: number;
  /** Milliseconds of waits for others. */
  readonly waited: number;
}

interface ListenerDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly state: ServingState;
  /** Undefined without METRICS_PORT: nothing is counted. */
  readonly metrics: RequestMetrics | undefined;
}

/** Handles every request of a listener: each gets one response, whatever fails. */
export class Listener implements Handlers<Response> {
  readonly #api: Api;
  readonly #deps: ListenerDependencies;
  readonly #outages = new Outages();
  /** An array, because V8 promotes the entries of a Map or Set that changes all the time to the old generation. */
  readonly #inFlight: RequestContext[] = [];

  constructor(api: Api, deps: ListenerDependencies) {
    this.#api = api;
    this.#deps = deps;
  }

  /** How many requests were accepted and are not answered yet. */
  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** Answers one request, with `refusal` if the HTTP layer refuses it. It never rejects. */
  readonly handle = async (
    request: IncomingMessage,
    writer: ResponseWriter,
    refusal?: Response,
  ): Promise<void> => {
    const context = this.#begin(request, writer);
    try {
      context.isRefused = refusal !== undefined;
      await this.#send(context, refusal ?? (await this.#respond(context)));
    } catch (error) {
      this.#drop(context, error);
    } finally {
      this.#end(context);
    }
  };

  /** Answers every request in flight with 503, because the service stops. */
  async abandon(): Promise<void> {
    await Promise.all(
      [...this.#inFlight].map((context) => this.#send(context, errorResponse('unavailable'))),
    );
  }

  /** Answers a request with `refusal` because its body does not arrive as it should. False when it is answered already. */
  readonly interrupt = (request: IncomingMessage, refusal: Response): boolean => {
    const context = this.#inFlight.find((each) => each.request === request);
    if (context === undefined || context.writer.headersSent) return false;
    context.writer.shouldKeepAlive = false;
    context.isRefused = true;
    this.#send(context, refusal).catch((error: unknown) => this.#drop(context, error));
    return true;
  };

  #begin(request: IncomingMessage, writer: ResponseWriter): RequestContext {
    const { path, query } = parseTarget(request.url ?? '/');
    const match = path === undefined ? undefined : this.#api.routes.match(path);
    const context: RequestContext = {
      request,
      writer,
      id: requestId(request.headers['x-request-id']),
      startedAt: this.#deps.clock(),
      waits: new Waits(this.#deps.clock),
      path,
      query,
      match,
      operation: match?.route.operations[request.method ?? ''],
      isRefused: false,
      key: undefined,
      refusedKey: undefined,
      operator: undefined,
      origin: undefined,
      actor: undefined,
      rateHeaders: undefined,
      outage: undefined,
      parameters: NO_PARAMETERS,
      body: undefined,
      idempotency: undefined,
      index: this.#inFlight.length,
    };
    this.#inFlight.push(context);
    return context;
  }

  /** The last request in flight moves to the index of this one. */
  #end(context: RequestContext): void {
    const last = this.#inFlight.pop();
    if (last === undefined || last === context) return;
    last.index = context.index;
    this.#inFlight[context.index] = last;
  }

  async #respond(context: RequestContext): Promise<Response> {
    try {
      return await this.#api.respond(context);
    } catch (error) {
      // Nobody is left to answer.
      if (error instanceof ClientGone) throw error;
      if (error instanceof ServiceError) {
        if (error.code === 'unavailable') this.#logOutage(context, error);
        const isPatch = error.code === 'unsupported_media_type' && context.request.method === 'PATCH';
        return errorResponse(error.code, error.message, isPatch ? ACCEPT_PATCH : NO_FIELDS);
      }
      this.#deps.log.error({ id: context.id, err: error }, 'internal error');
      return errorResponse('internal_error', internalError(context.id));
    }
  }

  /** Logs the reason without a stack, and once, because many requests meet one outage. */
  #logOutage(context: RequestContext, { message, cause }: ServiceError): void {
    const reason = cause instanceof Error ? cause.message : message;
    context.outage = reason;
    if (!this.#outages.begins(reason, context.startedAt.monotonic)) return;
    this.#deps.log.warn({ id: context.id, reason }, message);
  }

  async #send(context: RequestContext, response: Response): Promise<void> {
    const { request, writer, id } = context;
    const finished = this.#api.finish(context, response);
    const headers = finished instanceof Promise ? await finished : finished;
    // The request was answered early, while its operation still ran.
    if (writer.headersSent) return;
    // Only the last answer closes the connection, because the answers behind an earlier one would be lost.
    if (this.#deps.state.isDraining && !writer.isFollowed) writer.shouldKeepAlive = false;
    const all = joinFields(response.headers, trustedFields(`X-Request-Id: ${id}\r\n`), headers);
    writer.send(response.status, all, response.body);
    // The rest of an unread body is dropped, so that the connection can go on.
    if (!request.complete) request.resume();
    this.#record(context, response);
  }

  #record(context: RequestContext, response: Response): void {
    const { request, startedAt, waits, match, path, key } = context;
    const { clock, metrics } = this.#deps;
    const waited = waits.total;
    const duration = clock().monotonic - startedAt.monotonic - waited;
    const named = path === undefined ? undefined : (match?.route.template ?? this.#api.nameRoute(path));
    const route = named ?? 'unknown';
    const { status, code } = response;
    metrics?.observe(request.method ?? '', route, status, code, key?.account.plan, duration / 1_000);
    this.#api.record(context, response, { route, duration, waited });
  }

  #drop({ id, writer }: RequestContext, error: unknown): void {
    if (error instanceof ClientGone) {
      // An early answer is logged already.
      if (writer.headersSent) return;
      this.#deps.log.info({ id }, 'client went away');
      // The client may have ended its side only.
      writer.destroy();
      return;
    }
    this.#deps.log.error({ id, err: error }, 'no answer could be written');
    writer.destroy();
  }
}

const NO_PARAMETERS = {};
