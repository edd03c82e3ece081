// Contract: section 10.1.
import { textFromInstant, textIfInstant } from '../../domain/instant.ts';
import type { Operator } from '../../domain/operator.ts';

/** Milliseconds that a challenge works. It works once. */
export const CHALLENGE_LIFETIME = 300_000;

/** The most passkeys of an operator. */
export const MOST_PASSKEYS = 20;

/** The answer to an operator who has so many. */
export const NO_ROOM = {
  error: 'conflict',
  message: `An operator has at most ${MOST_PASSKEYS} passkeys: remove one first.`,
} as const;

/** A passkey as its operator sees it. The browser or the security key holds the secret part. */
export interface Passkey {
  readonly id: number;
  readonly operatorId: number;
  /** The name of the operator. */
  readonly operator: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds. Undefined before the first sign-in. */
  readonly lastUsedAt: number | undefined;
}

/** What verifies the signatures of a passkey. */
export interface Credential {
  /** Chosen by the authenticator, in base64url, as the public key is. */
  readonly credential: string;
  readonly publicKey: string;
  /** How often it was used, as the authenticator counts; always 0 if it does not count. */
  readonly counter: number;
}

/** Everybody manages their own passkeys. An admin can also rename and remove those of others. */
export function mayChange({ id, role }: Operator, { operatorId }: Passkey): boolean {
  return role === 'admin' || id === operatorId;
}

export function toPasskey({ createdAt, lastUsedAt, ...passkey }: Passkey) {
  return { ...passkey, createdAt: textFromInstant(createdAt), lastUsedAt: textIfInstant(lastUsedAt) };
}
