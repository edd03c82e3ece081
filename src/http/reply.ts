import type { Fields, Octets } from 'direct-http';
import type { ErrorCode } from '../domain/errors.ts';

/** An HTTP response before it is written. */
export interface Reply {
  readonly status: number;
  readonly headers: Fields;
  readonly body?: Octets | Buffer;
  /** The error code of an error response, for the log. */
  readonly code?: ErrorCode;
}
