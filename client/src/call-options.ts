export interface CallOptions {
  /** Aborts the call, also while it waits; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters; random by default. Within 24 hours, the same key and animal give the animal that
   * was created first. Set a key of your own to repeat a create safely after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

/** 128 random bits. Browsers have no `crypto.randomUUID` on pages without TLS. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
