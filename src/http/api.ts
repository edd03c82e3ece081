// Contract: section 1.
import type { IncomingMessage } from 'node:http';
import { ApiKeyHash, type Environment } from '../domain/api-key.ts';
import type { Clock } from '../domain/clock.ts';
import { PetStoreError } from '../domain/errors.ts';
import { PLANS } from '../domain/plan.ts';
import type { AccountStore } from '../domain/ports.ts';
import type { Caller, QuotaCounter, Verdict } from '../limits/counter.ts';
import { peek, UNUSED } from '../limits/quota.ts';
import type { ClientAddress } from './address.ts';
import { checkKey, readCredentials } from './authenticate.ts';
import { preflightHeaders } from './cors.ts';
import { errorReply } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { type Fields, fields } from './fields.ts';
import {
  banned,
  banNear,
  lacksScope,
  limitUsedUp,
  otherMethod,
  SHUTTING_DOWN,
  STORE_LOST,
} from './messages.ts';
import { rateHeaders, retryAfter } from './rate-headers.ts';
import type { Reply } from './reply.ts';

export interface ApiDependencies {
  readonly accounts: AccountStore;
  readonly counter: QuotaCounter;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly urls: Readonly<Record<Environment, string>>;
  readonly addressOf: ClientAddress;
  readonly isDraining: () => boolean;
  /** False while the store cannot be relied on: whatever is counted then may be counted twice, or lost. */
  readonly mayAdmit: () => boolean;
}

const UNKNOWN_ROUTE_METHODS = 'GET, HEAD, POST, OPTIONS';

/** Everything below `/v1`, in the order in which a request is checked. */
export class Api {
  readonly #deps: ApiDependencies;

  constructor(deps: ApiDependencies) {
    this.#deps = deps;
  }

  async answer(exchange: Exchange): Promise<Reply> {
    const { accounts, counter } = this.#deps;
    const { request, match } = exchange;
    if (request.method === 'OPTIONS') {
      return { status: 204, headers: preflightHeaders(match?.route.methods ?? UNKNOWN_ROUTE_METHODS) };
    }

    if (!this.#deps.mayAdmit()) return errorReply('unavailable', STORE_LOST);

    // Authentication: who fails it is counted by address.
    const now = exchange.startedAt.unix;
    const read = readCredentials(request.headers.authorization, this.#deps);
    // Awaited in any case, so that broken HTTP behind the header block is found before anything is counted.
    const found = await (read instanceof ApiKeyHash ? accounts.findKeyByHash(read) : undefined);
    const { key, fault } = read instanceof ApiKeyHash ? checkKey(found, now) : read;
    if (key === undefined) {
      const verdict = await counter.charge(this.#addressCaller(request));
      return this.#refusal(exchange, verdict) ?? errorReply('unauthorized', fault);
    }
    exchange.key = key;
    accounts.noteUse(key.id, now);

    const { account } = key;
    const caller: Caller = { kind: 'key', keyId: key.id, accountId: account.id, limits: account.limits };
    if (this.#deps.isDraining()) {
      exchange.rateHeaders = rateHeaders(await counter.peek(caller));
      return errorReply('unavailable', SHUTTING_DOWN);
    }

    // Ban and quota, in one step.
    const charged = counter.charge(caller);
    const refusal = this.#refusal(exchange, charged instanceof Promise ? await charged : charged);
    if (refusal !== undefined) return refusal;

    // Route and method.
    if (exchange.path === undefined) {
      return errorReply('invalid_request', 'The percent-encoding of the request target is broken.');
    }
    if (match === undefined)
      return errorReply('not_found', 'There is no such path: the API has /pets and /pets/{petId}.');
    const operation = match.route.operations[request.method ?? ''];
    if (operation === undefined) {
      const { methods } = match.route;
      return errorReply('method_not_allowed', otherMethod(methods), fields('Allow', methods));
    }

    // Scope; then validation and the operation itself.
    if (!key.scopes.includes(operation.scope)) {
      return errorReply('insufficient_scope', lacksScope(operation.scope));
    }
    try {
      return await operation.handle({
        request,
        query: exchange.query,
        petId: match.petId,
        key,
        now: exchange.startedAt,
      });
    } catch (error) {
      if (error instanceof PetStoreError && error.code !== 'unavailable')
        return errorReply(error.code, error.message);
      throw error;
    }
  }

  /** The rate headers where no caller is known: those of the address's own bucket, uncounted. */
  async rateHeaders(request: Pick<IncomingMessage, 'socket' | 'headers'>): Promise<Fields> {
    try {
      return rateHeaders(await this.#deps.counter.peek(this.#addressCaller(request)));
    } catch (error) {
      if (!(error instanceof PetStoreError)) throw error;
      // The store that knows the bucket is down: its limits are known all the same.
      return rateHeaders(peek(UNUSED, PLANS.free, this.#deps.clock()));
    }
  }

  /** Notes the caller's rate headers; gives the 429 when the verdict is a refusal. */
  #refusal(exchange: Exchange, verdict: Verdict): Reply | undefined {
    const { quota } = verdict;
    if (verdict.kind === 'banned') {
      exchange.rateHeaders = rateHeaders(quota, verdict.ban);
      const wait = retryAfter(verdict.ban.until - quota.at);
      return errorReply('key_banned', banned(wait.seconds), wait.header);
    }
    exchange.rateHeaders = rateHeaders(quota);
    if (verdict.kind === 'admitted') return undefined;
    const { governing } = quota;
    const wait = retryAfter(quota[governing].resetsAt - quota.at);
    const { refusalsLeft } = verdict;
    const message = limitUsedUp(quota[governing].limit, governing, wait.seconds);
    return errorReply(
      governing === 'minute' ? 'rate_limit_exceeded' : 'daily_limit_exceeded',
      refusalsLeft === undefined ? message : message + banNear(refusalsLeft),
      wait.header,
    );
  }

  #addressCaller({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): Caller {
    const forwarded = headers['x-forwarded-for'];
    const address = this.#deps.addressOf(
      socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join() : forwarded,
    );
    return { kind: 'address', address, limits: PLANS.free };
  }
}
