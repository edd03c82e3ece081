/** Receives what the client reports. `console` is a logger. If it throws, the call throws the same. */
export interface Logger {
  /** Each answer. */
  debug(message: string, details: LogDetails): void;
  /** Each failure after which the client tries again, and each deprecated operation. */
  warn(message: string, details: LogDetails): void;
}

export interface LogDetails {
  /** Its `operationId`: `getPet`. */
  readonly operation: string;
  /** How often the request has been sent. */
  readonly tries?: number;
  /** HTTP status of the answer. */
  readonly status?: number | undefined;
  /** The id of the request in the service's log. */
  readonly requestId?: string | undefined;
  /** Whole milliseconds from the request to the end of its answer. */
  readonly duration?: number;
  /** Whole milliseconds to the next try. */
  readonly wait?: number;
}
