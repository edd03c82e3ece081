import type { ErrorCode } from '../domain/errors.ts';

/** An HTTP response before it is written. Headers are names and values in turn, as `writeHead` takes them. */
export interface Reply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body?: string | Buffer;
  /** The error code of an error response, for the log. */
  readonly code?: ErrorCode;
}
