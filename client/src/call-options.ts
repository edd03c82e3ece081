import { checkOptions, describeValue } from './checks.ts';
import type { OPERATIONS } from './operations.ts';
import { checkInteger } from './options.ts';

type Method = (typeof OPERATIONS)[keyof typeof OPERATIONS]['method'];

export interface CallOptions {
  /** Aborts the call, also while it waits; it then throws an AbortError. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the `timeout` of the client. */
  readonly timeout?: number | undefined;
  /** Instead of the `maxTries` of the client. */
  readonly maxTries?: number | undefined;
}

/** The options of a call that adds something or completes an order. */
export interface CreateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; random by default. Within 24 hours, the same key and arguments give the first
   * result again. Set a key of your own to repeat a call safely after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The options of a call that changes or removes something. */
export interface ChangeOptions extends CallOptions {
  /**
   * The `ETag` of a response: if the content has changed since, the call throws a PreconditionFailedError. Undefined is
   * refused, because the call would then overwrite the changes of others.
   */
  readonly ifMatch?: string;
}

const NAMES = { signal: true, timeout: true, maxTries: true } as const satisfies Record<
  keyof CallOptions,
  true
>;

const NAMES_OF: Readonly<Record<Method, Readonly<Record<string, true>>>> = {
  GET: NAMES,
  POST: { ...NAMES, idempotencyKey: true },
  PATCH: { ...NAMES, ifMatch: true },
  DELETE: { ...NAMES, ifMatch: true },
};

/**
 * The options of a call with this method, which are those of `CreateOptions` or of `ChangeOptions`.
 * @throws TypeError or RangeError that names the option that is wrong.
 */
export function checkCallOptions(options: CallOptions, method: Method): CreateOptions & ChangeOptions {
  checkOptions(options, NAMES_OF[method]);
  const checked: CreateOptions & ChangeOptions = options;
  const { signal, timeout, maxTries } = checked;
  if (timeout !== undefined) checkInteger('timeout', timeout, 1);
  if (maxTries !== undefined) checkInteger('maxTries', maxTries, 1);
  if (signal !== undefined && typeof signal.addEventListener !== 'function')
    throw new TypeError('signal must be an AbortSignal, such as the signal of an AbortController.');
  const { idempotencyKey } = checked;
  if (
    idempotencyKey !== undefined &&
    !(typeof idempotencyKey === 'string' && /^[!-~]{1,255}$/.test(idempotencyKey))
  )
    throw new TypeError(
      `idempotencyKey must be a string of 1 to 255 visible ASCII characters, but ${describeValue(idempotencyKey)} was given.`,
    );
  if ('ifMatch' in checked && typeof checked.ifMatch !== 'string')
    throw new TypeError(
      `ifMatch must be the ETag of a response, but ${describeValue(checked.ifMatch)} was given.`,
    );
  return checked;
}

/** 128 random bits. Browsers have no `crypto.randomUUID` on pages without TLS. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
