// Contract: sections 1.4, 3, 5 and 6.
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Stores } from '../api/index.ts';
import { sunsetDate } from '../api/operation.ts';
import { readParameters } from '../api/parameters.ts';
import { ApiKeyHash, type Environment } from '../domain/api-key.ts';
import type { Author } from '../domain/audit.ts';
import type { Clock } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import { checkKey } from '../domain/key-rules.ts';
import { HOLDER_LIMITS, PLANS } from '../domain/plan.ts';
import type { KeyLookup } from '../domain/account-ports.ts';
import type { Caller, QuotaCounter } from '../limits/counter.ts';
import { peek, UNUSED } from '../limits/quota.ts';
import type { ClientAddress } from './address.ts';
import { rateHeaders, readCredentials, refusalOf } from './admission.ts';
import { Answers } from './answer.ts';
import { ACCEPT_PATCH, NONE, readContent } from './body.ts';
import { preflightHeaders } from './cors.ts';
import { errorReply, otherMethodReply } from './errors.ts';
import type { KeyUses } from './key-usage.ts';
import type { Exchange, Routes } from './request.ts';
import { type Fields, NO_FIELDS } from './wire/text.ts';
import { lacksScope, removed, SHUTTING_DOWN, STORE_LOST } from './messages.ts';
import type { Reply } from './wire/response.ts';

/** What the service may do now. The gate and the stop change it while requests run. */
export interface ServingState {
  /** False while the store cannot be relied on. Requests that are counted then may be counted twice, or lost. */
  readonly isOpen: boolean;
  /** Whether the service is stopping. */
  readonly isDraining: boolean;
}

export interface ApiDependencies {
  readonly routes: Routes;
  readonly stores: Stores;
  readonly keys: KeyLookup;
  readonly keyUses: Pick<KeyUses, 'note'>;
  /** The counter in use, which can be replaced. */
  readonly counting: { readonly counters: QuotaCounter };
  readonly state: ServingState;
  readonly clock: Clock;
  readonly log: Logger;
  readonly environment: Environment;
  /** The base addresses that are known, and that of the running environment. */
  readonly urls: Readonly<Partial<Record<Environment, string>>>;
  readonly base: string;
  readonly addressOf: ClientAddress;
}

/** Everything below `/v1`, in the order in which a request is checked. */
export class Api {
  readonly #deps: ApiDependencies;
  readonly #answers: Answers;

  constructor(deps: ApiDependencies) {
    this.#deps = deps;
    this.#answers = new Answers(deps.base);
  }

  async answer(exchange: Exchange): Promise<Reply> {
    const { counting, keys, keyUses, routes, state, stores } = this.#deps;
    const { request, match, served } = exchange;
    if (request.method === 'OPTIONS') {
      return { status: 204, headers: preflightHeaders(match?.route.methods ?? routes.methods) };
    }

    if (!state.isOpen) return errorReply('unavailable', STORE_LOST);

    // Authentication. A failure is counted for the address.
    const now = exchange.startedAt.unix;
    const read = readCredentials(request.headers.authorization, this.#deps);
    // The await also lets the parser find broken HTTP behind the header block before anything is counted.
    const found = await (read instanceof ApiKeyHash ? keys.findKeyByHash(read) : undefined);
    const { key, fault } = read instanceof ApiKeyHash ? checkKey(found, now) : read;
    if (key === undefined) {
      const verdict = await counting.counters.charge(this.#addressCaller(request));
      return refusalOf(exchange, verdict) ?? errorReply('unauthorized', fault);
    }
    exchange.key = key;
    keyUses.note(key.id, now);

    const { account } = key;
    // What the path lacks counts against the plan, as unknown paths do.
    const caller: Caller =
      served?.operation.allowance === 'holder'
        ? { kind: 'holder', accountId: account.id, limits: HOLDER_LIMITS }
        : { kind: 'key', keyId: key.id, accountId: account.id, limits: account.limits };
    if (state.isDraining) {
      exchange.rateHeaders = rateHeaders(await counting.counters.peek(caller));
      return errorReply('unavailable', SHUTTING_DOWN);
    }

    // Ban and quota, in one step. Neither closes the holder's windows.
    const charged = counting.counters.charge(caller);
    const refusal = refusalOf(exchange, charged instanceof Promise ? await charged : charged);
    if (refusal !== undefined) return refusal;

    // Route and method.
    if (exchange.path === undefined) {
      return errorReply('invalid_request', 'The percent-encoding of the request target is broken.');
    }
    if (match === undefined) return errorReply('not_found', routes.unknownPath);
    if (served === undefined) return otherMethodReply(match.route.methods);

    // Scope, and whether the operation still exists.
    const { operation } = served;
    const { scope, deprecated } = operation;
    if (scope !== undefined && !key.scopes.includes(scope))
      return errorReply('insufficient_scope', lacksScope(scope));
    if (deprecated !== undefined && now >= deprecated.removal)
      return errorReply('gone', removed(sunsetDate(deprecated), deprecated.successor));

    // Validation, then the operation itself.
    try {
      const parameters = readParameters(served, match.values, exchange.query);
      if (parameters === undefined) return errorReply('not_found', operation.errors.not_found ?? '');
      const { body, idempotency } =
        operation.method === 'GET' ? NONE : await readContent(operation, request, account.id, match.values);
      const ifMatch = operation.method === 'GET' ? undefined : entityTags(request.headers['if-match']);
      const author = () => this.#author(key.id, request);
      const call = { key, accountId: account.id, author, parameters, body, ifMatch, idempotency };
      const answer = await operation.handle(call, stores);
      return this.#answers.reply(served, call, answer, request.headers);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'unavailable') throw error;
      const isOtherType = error.code === 'unsupported_media_type' && operation.method === 'PATCH';
      return errorReply(error.code, error.message, isOtherType ? ACCEPT_PATCH : NO_FIELDS);
    }
  }

  /** The rate headers when no caller is known: those of the address, which are not counted. */
  async rateHeaders(request: Pick<IncomingMessage, 'socket' | 'headers'>): Promise<Fields> {
    try {
      return rateHeaders(await this.#deps.counting.counters.peek(this.#addressCaller(request)));
    } catch (error) {
      // The store that counts addresses is down. The limits are known without it, and every request gets an answer.
      if (!(error instanceof ServiceError))
        this.#deps.log.error({ err: error }, 'an address could not be looked up');
      return rateHeaders(peek(UNUSED, PLANS.free, this.#deps.clock()));
    }
  }

  #addressCaller(request: Pick<IncomingMessage, 'socket' | 'headers'>): Caller {
    return { kind: 'address', address: this.#deps.addressOf(request), limits: PLANS.free };
  }

  #author(id: number, request: Pick<IncomingMessage, 'socket' | 'headers'>): Author {
    return { actor: { kind: 'key', id }, address: this.#deps.addressOf(request) };
  }
}

/** The entity tags that an `If-Match` header lists. */
function entityTags(header: string | undefined): readonly string[] | undefined {
  return header?.split(',').map((tag) => tag.trim());
}
