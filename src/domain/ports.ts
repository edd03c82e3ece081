// Contract: sections 2 and 3.

declare const content: unique symbol;

/** A value in the form in which clients get it. Only `written.ts` and the storage know this form. */
export type Written<T> = string & { readonly [content]: T };

/** A page of a list, newest first: descending id. */
export interface Page<T> {
  readonly items: Written<readonly T[]>;
  /** The id of the last one, when more follow it: where the next page begins. */
  readonly next: bigint | undefined;
}

/**
 * The SHA-256 of an `Idempotency-Key`, in hexadecimal. A client may send a secret in this header, so its value is not
 * stored (docs/design/idempotency.md).
 */
export type IdempotencyKeyHash = `sha256 ${string}`;

/** A write that clients may repeat: the same key and fingerprint of one account within 24 hours get one answer. */
export interface Idempotency {
  readonly accountId: number;
  readonly key: IdempotencyKeyHash;
  /** SHA-256 of the values in the path and the body, as they were sent. */
  readonly fingerprint: string;
  /** The status of the answer. */
  readonly status: number;
  /** The path of what the write adds, with `{id}` in place of its id. */
  readonly location: string | undefined;
}
