// Contract: section 10.
import { hash } from 'node:crypto';
import { isSecret, newSecret, type RandomBytes, TOKEN_PREFIX } from '../../domain/api-key.ts';
import { textFromInstant, textIfInstant } from '../../domain/instant.ts';
import type { Operator } from '../../domain/operator.ts';

/** Milliseconds that a sign-in link works. It works once. */
export const LINK_LIFETIME = 600_000;

/** The SHA-256 of a sign-in link, a session or a token of an operator, in hexadecimal. The store keeps nothing else of it. */
export type SecretHash = string;

/** The uses of a secret: a link signs in once, a session is a browser that signed in, a program has a token. */
export const SECRET_KINDS = ['link', 'session', 'token'] as const;

export type SecretKind = (typeof SECRET_KINDS)[number];

/** Bytes of randomness in a link or a session. */
const SECRET_BYTES = 32;

/** A plain secret of an operator. No log, error or dump can print it, because only `reveal` gives the text. */
export class OperatorSecret {
  readonly kind: SecretKind;
  readonly #text: string;

  private constructor(kind: SecretKind, text: string) {
    this.kind = kind;
    this.#text = text;
  }

  /** A new token is `petstore_admin_` and a secret like that of a key. Links and sessions are base64url. */
  static generate(kind: SecretKind, random: RandomBytes): OperatorSecret {
    if (kind === 'token') return new OperatorSecret(kind, newSecret(TOKEN_PREFIX, random));
    return new OperatorSecret(kind, Buffer.from(random(SECRET_BYTES)).toString('base64url'));
  }

  /** The secret in `text`, or undefined when the format or the checksum is wrong. */
  static parse(kind: SecretKind, text: string): OperatorSecret | undefined {
    const isRight = kind === 'token' ? isSecret(text, TOKEN_PREFIX) : /^[\w-]{43}$/.test(text);
    return isRight ? new OperatorSecret(kind, text) : undefined;
  }

  reveal(): string {
    return this.#text;
  }

  hash(): SecretHash {
    return hash('sha256', this.#text, 'hex');
  }
}

/** The record of a token, without the token itself. */
export interface OperatorToken {
  readonly id: number;
  readonly operator: string;
  readonly createdAt: number;
  /** Unix milliseconds. Without it, the token ends with its operator. */
  readonly expiresAt: number | undefined;
}

/**
 * The address of a link. `origin` is that of the console. The secret is in the fragment, which browsers do not send, so
 * no server, proxy or log sees it.
 */
export function linkAddress(origin: string, secret: OperatorSecret): string {
  return `${origin}/sign-in#${secret.reveal()}`;
}

/** An operator of a list. */
export interface ListedOperator extends Operator {
  /** Unix milliseconds; undefined before the first sign-in. */
  readonly lastSignInAt?: number | undefined;
}

/** An operator as answers and commands show it. */
export function toOperator({ id, name, role, createdAt, lastSignInAt }: ListedOperator) {
  return {
    id,
    name,
    role,
    createdAt: textFromInstant(createdAt),
    lastSignInAt: textIfInstant(lastSignInAt),
  };
}
