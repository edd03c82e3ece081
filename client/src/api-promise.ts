import type { RateLimit } from './rate-limit.ts';

/** The response of the service to a call that succeeded. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The id of the request in the service's log. */
  readonly requestId: string | undefined;
  /** Both windows that this call counted in, after it. */
  readonly rateLimit: RateLimit | undefined;
}

export interface WithResponse<Result> {
  readonly data: Result;
  readonly response: ApiResponse;
}

/** A call that has begun. `await` gives its result, `await ….withResponse()` its response, too. */
export interface ApiPromise<Result> extends Promise<Result> {
  withResponse(): Promise<WithResponse<Result>>;
}

/** Begins a call. An error of `send` itself rejects the promise, too. */
export function apiPromise<Result>(send: () => Promise<WithResponse<Result>>): ApiPromise<Result> {
  const sent = send();
  const result = sent.then(({ data }) => data);
  return Object.assign(result, {
    async withResponse() {
      // The caller handles the failure of what it asked for here.
      result.catch(() => undefined);
      return await sent;
    },
  });
}
