import { checkOptions } from './given.ts';
import { checkInteger } from './options.ts';

export interface CallOptions {
  /** Aborts the call, also while it waits; it then throws an AbortError. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the `timeout` of the client. */
  readonly timeout?: number | undefined;
  /** Instead of the `maxTries` of the client. */
  readonly maxTries?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; random by default. Within 24 hours, the same key and animal give the animal that
   * was created first. Set a key of your own to repeat a create safely after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

const NAMES: Readonly<Record<keyof CreateOptions, true>> = {
  signal: true,
  timeout: true,
  maxTries: true,
  idempotencyKey: true,
};

/** @throws TypeError or RangeError that names the option that is wrong. */
export function checkCallOptions(options: CallOptions): void {
  checkOptions(options, NAMES);
  const { signal, timeout, maxTries } = options;
  if (timeout !== undefined) checkInteger('timeout', timeout, 1);
  if (maxTries !== undefined) checkInteger('maxTries', maxTries, 1);
  if (signal !== undefined && typeof signal.addEventListener !== 'function')
    throw new TypeError('signal must be an AbortSignal, such as the signal of an AbortController.');
}

/** 128 random bits. Browsers have no `crypto.randomUUID` on pages without TLS. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
