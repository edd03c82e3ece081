// Contract: section 10.1.
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { ADMIN_OPERATIONS, type AdminStores } from '../admin/index.ts';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import type { RequestMetrics } from '../http/request-counts.ts';
import { ClientGone } from '../http/body.ts';
import { errorReply } from '../http/errors.ts';
import { parseTarget, requestId, Routes } from '../http/request.ts';
import type { ServingState } from '../http/pipeline.ts';
import { internalError, SHUTTING_DOWN, STORE_LOST } from '../http/messages.ts';
import type { Reply } from '../http/wire/response.ts';
import { fields, joinFields, trustedFields } from '../http/wire/text.ts';
import type { Handlers, Response } from '../http/wire/wire.ts';
import { Access, type AccessDependencies } from './access.ts';
import { AdminApi } from './admin-api.ts';
import type { ConsoleRequest } from './console-request.ts';
import { adminDescription, DESCRIPTION_PATH } from './openapi.ts';
import { consolePage } from './pages.ts';
import { signInOrOut } from './sign-in.ts';

export interface ConsoleDependencies extends AccessDependencies {
  readonly stores: AdminStores;
  readonly clock: Clock;
  readonly state: ServingState;
  readonly metrics: RequestMetrics | undefined;
  readonly log: Logger;
}

const PREFIX = '/admin/v1';

/** On every response: no other site can frame it, load it or take it for something else. */
const SHIELD = fields('X-Frame-Options', 'DENY', 'Cross-Origin-Resource-Policy', 'same-origin');

/** On every response except those of pages and their files, which have their own Cache-Control. */
const UNSTORED = fields('Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff');

/** The console's listener: sign-in, its pages and the admin API. Nothing of it is on the public port. */
export class Console implements Handlers {
  readonly #deps: ConsoleDependencies;
  readonly #access: Access;
  readonly #api: AdminApi;
  readonly #inFlight = new Set<ConsoleRequest>();

  constructor(deps: ConsoleDependencies) {
    this.#deps = deps;
    this.#access = new Access(deps);
    const routes = new Routes(ADMIN_OPERATIONS, PREFIX, PREFIX);
    this.#api = new AdminApi({ routes, stores: deps.stores, access: this.#access, base: PREFIX });
  }

  /** How many requests were accepted and are not answered yet. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Answers one request, with `refusal` if the HTTP layer refuses it. It never rejects. */
  readonly handle = async (request: IncomingMessage, response: Response, refusal?: Reply): Promise<void> => {
    const asked: ConsoleRequest = {
      request,
      response,
      id: requestId(request.headers['x-request-id']),
      startedAt: this.#deps.clock().monotonic,
      ...target(request),
      route: 'unknown',
      operator: undefined,
      reason: undefined,
    };
    this.#inFlight.add(asked);
    try {
      const reply = refusal === undefined ? await this.#answer(asked) : unstored(refusal);
      this.#send(asked, reply);
    } catch (error) {
      if (!(error instanceof ClientGone))
        this.#deps.log.error({ id: asked.id, err: error }, 'no answer could be written');
      response.destroy();
    } finally {
      this.#inFlight.delete(asked);
    }
  };

  /** Answers a request whose body is late or broken with `refusal`. Returns false when it is answered already. */
  readonly interrupt = (request: IncomingMessage, refusal: Reply): boolean => {
    const asked = [...this.#inFlight].find((each) => each.request === request);
    if (asked === undefined || asked.response.headersSent) return false;
    asked.response.shouldKeepAlive = false;
    this.#send(asked, unstored(refusal));
    return true;
  };

  /** Answers every request in flight with 503, because the service stops. */
  abandon(): void {
    const reply = unstored(errorReply('unavailable', SHUTTING_DOWN));
    for (const asked of this.#inFlight) this.#send(asked, reply);
  }

  async #answer(asked: ConsoleRequest): Promise<Reply> {
    const { request } = asked;
    try {
      const fault = this.#access.hostFault(request);
      const page = fault === undefined ? await consolePage(asked) : undefined;
      if (page !== undefined && page.code === undefined) return page;
      return unstored(fault ?? page ?? (await this.#unstoredAnswer(asked)));
    } catch (error) {
      if (error instanceof ClientGone) throw error;
      if (error instanceof ServiceError) {
        if (error.code === 'unavailable') asked.reason = reasonOf(error);
        return unstored(errorReply(error.code, error.message));
      }
      this.#deps.log.error({ id: asked.id, err: error }, 'internal error');
      return unstored(errorReply('internal_error', internalError(asked.id)));
    }
  }

  async #unstoredAnswer(asked: ConsoleRequest): Promise<Reply> {
    const { path } = asked;
    if (this.#deps.state.isDraining) return errorReply('unavailable', SHUTTING_DOWN);
    if (!this.#deps.state.isOpen) return errorReply('unavailable', STORE_LOST);
    if (path === '')
      return errorReply('invalid_request', 'The percent-encoding of the request target is broken.');
    if (path.startsWith(`${PREFIX}/`)) return this.#api.answer(asked);
    if (path === DESCRIPTION_PATH) return adminDescription(asked);
    const signing = await signInOrOut(asked, this.#access);
    return signing ?? errorReply('not_found', 'The console has no such page.');
  }

  #send(asked: ConsoleRequest, { status, headers, body, code }: Reply): void {
    const { request, response, id, operator, route, reason, startedAt } = asked;
    // The request was answered early.
    if (response.headersSent) return;
    if (this.#deps.state.isDraining && !response.isFollowed) response.shouldKeepAlive = false;
    response.send(status, joinFields(headers, SHIELD, trustedFields(`X-Request-Id: ${id}\r\n`)), body);
    // The rest of an unread body is dropped, so that the connection can go on.
    if (!request.complete) request.resume();
    const { clock, log, metrics } = this.#deps;
    const { method = '' } = request;
    const durationMs = Math.round((clock().monotonic - startedAt) * 1_000) / 1_000;
    metrics?.observe(method, route, status, code, undefined, durationMs / 1_000);
    const isQuiet = status < 400 && (method === 'GET' || method === 'HEAD');
    const level = reason === undefined ? (isQuiet ? 'debug' : 'info') : 'warn';
    log[level]({ id, operator, method, route, status, code, reason, durationMs }, 'console request');
  }
}

/** No cache may keep the answer. */
function unstored(reply: Reply): Reply {
  return { ...reply, headers: joinFields(reply.headers, UNSTORED) };
}

function target({ url = '/' }: IncomingMessage): Pick<ConsoleRequest, 'path' | 'query'> {
  const { path = '', query } = parseTarget(url);
  return { path, query };
}

function reasonOf({ message, cause }: ServiceError): string {
  return cause instanceof Error ? cause.message : message;
}
