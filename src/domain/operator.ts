// Contract: section 10.
import { hash } from 'node:crypto';
import { isSecret, newSecret, type RandomBytes, TOKEN_PREFIX } from './api-key.ts';

/** What an operator may do: a viewer reads, an admin changes. */
export const ROLES = ['viewer', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** A person who runs the service, or one of their programs. */
export interface Operator {
  readonly id: number;
  /** Unique, ignoring case. */
  readonly name: string;
  readonly role: Role;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** Milliseconds that a sign-in link works. It works once. */
export const LINK_LIFETIME = 600_000;

/** Milliseconds that a session lasts. */
export const SESSION_LIFETIME = 43_200_000;

/** The SHA-256 of a sign-in link, a session or a token of an operator, in hexadecimal. The store keeps nothing else of it. */
export type SecretHash = string;

/** The uses of a secret: a link signs in once, a session is a browser that signed in, a program has a token. */
export type SecretKind = 'link' | 'session' | 'token';

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
  /** Unix milliseconds. */
  readonly expiresAt: number | undefined;
}
