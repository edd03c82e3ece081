// Contract: sections 3.13 and 10.2.
import type { ErrorCode } from '../domain/errors.ts';
import { type Page, type PageQuery, toPage } from '../domain/page.ts';
import { copyText, cutText, isPartOf } from '../domain/text.ts';

/** Failed requests that an instance keeps. */
const KEPT = 10_000;

/** Characters that are kept of a user agent, and of a message. */
const USER_AGENT_KEPT = 200;
const MESSAGE_KEPT = 500;

/** A request below `/v1` that was answered with an error. */
export interface FailedRequest {
  /** Rises from one to the next. Microseconds of Unix time at least, so that it names a time on every instance. */
  readonly id: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly requestId: string;
  readonly method: string;
  /** The template of the path: `/v1/pets/{petId}`. Undefined if the API has no such path: the path may hold anything. */
  readonly path: string | undefined;
  /** The id of the operation, if the request matched one. */
  readonly operation: string | undefined;
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** The parameter or field that the message is about. */
  readonly parameter: string | undefined;
  /** The key that was sent, even if it was refused. Undefined if there is no such key. */
  readonly keyId: number | undefined;
  readonly accountId: number | undefined;
  readonly account: string | undefined;
  /** As `clientAddress` finds it. */
  readonly address: string;
  readonly userAgent: string | undefined;
}

/** Which of them. Each value must be equal, but for those that are described. */
interface FailedRequestFilter {
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: ErrorCode | undefined;
  readonly accountId?: number | undefined;
  readonly keyId?: number | undefined;
  /** Part of the name of the account. Case does not count. */
  readonly account?: string | undefined;
  /** Part of the id of the operation. Case does not count. */
  readonly operation?: string | undefined;
  /** Those from this instant on, in Unix milliseconds. */
  readonly since?: number | undefined;
  /** Those that repeat the failed request with this id. */
  readonly like?: number | undefined;
}

/** Failed requests with the same cause. */
export interface FailedRequestGroup {
  /** That of `last`. */
  readonly id: number;
  readonly count: number;
  /** When the first one that is kept began, in Unix milliseconds. */
  readonly firstAt: number;
  /** The newest one. */
  readonly last: FailedRequest;
}

/** Keeps the last failed requests of this process in memory. */
export class FailedRequests {
  readonly #ring: FailedRequest[] = [];
  #next = 0;
  #lastId = 0;

  /** Keeps a failed request. The oldest one goes. */
  record(failed: Omit<FailedRequest, 'id'>): void {
    const { requestId, userAgent, message, parameter } = failed;
    this.#lastId = Math.max(this.#lastId + 1, Math.floor(failed.at) * 1_000);
    this.#ring[this.#next] = {
      ...failed,
      id: this.#lastId,
      // An id that the service made is a part of a text with 256 ids.
      requestId: copyText(requestId),
      message: cutOwn(message, MESSAGE_KEPT),
      parameter: parameter && copyText(parameter),
      userAgent: userAgent && cutOwn(userAgent, USER_AGENT_KEPT),
    };
    this.#next = (this.#next + 1) % KEPT;
  }

  get(id: number): FailedRequest | undefined {
    return this.#newest().find((failed) => failed.id === id);
  }

  /** The newest first. */
  list({ limit, cursor, ...filter }: PageQuery & FailedRequestFilter): Page<FailedRequest> {
    const found = this.#find(filter)
      .filter(({ id }) => cursor === undefined || id < cursor)
      .take(limit + 1);
    return toPage([...found], limit);
  }

  /** Groups of those with the same cause, by their newest one, the newest first. */
  listGroups({ limit, cursor, ...filter }: PageQuery & FailedRequestFilter): Page<FailedRequestGroup> {
    const groups = new Map<string, { id: number; count: number; firstAt: number; last: FailedRequest }>();
    for (const failed of this.#find(filter)) {
      const cause = causeOf(failed);
      const group = groups.get(cause);
      if (group === undefined)
        groups.set(cause, { id: failed.id, count: 1, firstAt: failed.at, last: failed });
      else {
        group.count++;
        group.firstAt = failed.at;
      }
    }
    const found = groups
      .values()
      .filter(({ id }) => cursor === undefined || id < cursor)
      .take(limit + 1);
    return toPage([...found], limit);
  }

  #find({ account, operation, since, like, ...exact }: FailedRequestFilter): IteratorObject<FailedRequest> {
    const named = like === undefined ? undefined : this.get(like);
    if (like !== undefined && named === undefined) return [].values();
    const cause = named && causeOf(named);
    const [isOfAccount, isOfOperation] = [textFilter(account), textFilter(operation)];
    const names = Object.keys(exact) as (keyof typeof exact)[];
    return this.#newest().filter(
      (failed) =>
        names.every((name) => exact[name] === undefined || exact[name] === failed[name]) &&
        (since === undefined || failed.at >= since) &&
        isOfAccount(failed.account) &&
        isOfOperation(failed.operation) &&
        (cause === undefined || cause === causeOf(failed)),
    );
  }

  *#newest(): Generator<FailedRequest, undefined> {
    const count = this.#ring.length;
    for (let age = 1; age <= count; age++) {
      const failed = this.#ring[(this.#next - age + count) % count];
      if (failed !== undefined) yield failed;
    }
  }
}

/** Equal for requests that failed for the same cause. */
function causeOf({ status, code, method, path, keyId, message }: FailedRequest): string {
  // These messages differ each time: they say how long to wait, or name the request.
  const text = status === 429 || status === 500 ? '' : message;
  return `${status} ${code} ${method} ${path} ${keyId} ${text}`;
}

/** Whether a text contains `part`, ignoring case. Folds each text once, because few accounts have many failed requests. */
function textFilter(part: string | undefined): (text: string | undefined) => boolean {
  if (part === undefined) return () => true;
  const fits = isPartOf(part);
  const results = new Map<string | undefined, boolean>([[undefined, false]]);
  return (text) => {
    let result = results.get(text);
    if (result === undefined) results.set(text, (result = text !== undefined && fits(text)));
    return result;
  };
}

function cutOwn(text: string, most: number): string {
  return text.length > most ? copyText(cutText(text, most)) : text;
}
