import { ConnectionError, TimeoutError } from './errors.ts';
import type { ClientRuntime } from './runtime.ts';

/** A whole answer of the service. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly body: string;
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;
}

export interface ExchangeOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds until the whole answer has arrived. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly runtime: ClientRuntime;
}

/**
 * Sends a request once.
 * @throws TimeoutError or ConnectionError when there is no whole answer, or the reason of the signal when it is aborted.
 */
export async function exchange(url: string, init: RequestInit, options: ExchangeOptions): Promise<Answer> {
  const { fetch, timeout, signal, runtime } = options;
  // AbortSignal.any would do this, but Node.js 20.0 does not have it.
  const canceller = new AbortController();
  const onAbort = () => canceller.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const over = new AbortController();
  let isLate = false;
  const onLate = () => {
    isLate = true;
    canceller.abort();
  };
  runtime.sleep(timeout, over.signal).then(onLate, () => undefined);

  let response: Response | undefined;
  try {
    signal?.throwIfAborted();
    // The key must go nowhere but to the base address, so redirects are not followed.
    response = await fetch(url, { ...init, redirect: 'manual', signal: canceller.signal });
    const body = await response.text();
    const { status, statusText, headers } = response;
    return { status, statusText, headers, body, requestId: requestIdOf(response) };
  } catch (cause) {
    signal?.throwIfAborted();
    const details = {
      status: response?.status,
      requestId: response && requestIdOf(response),
      cause,
    };
    const request = `${init.method} ${url}`;
    if (isLate)
      throw new TimeoutError(`${request} was not answered completely within ${timeout} ms.`, details);
    throw new ConnectionError(`${request} was not answered completely: ${reason(cause)}`, details);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    over.abort();
  }
}

function requestIdOf({ headers }: Response): string | undefined {
  return headers.get('x-request-id') ?? undefined;
}

/** Node.js gives the reason only in the cause of "fetch failed". */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Of the addresses of `localhost`.
  if (error.cause instanceof AggregateError) return error.cause.errors.map(reason).join(', ');
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
