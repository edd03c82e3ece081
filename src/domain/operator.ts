// Contract: section 10.
import { ServiceError } from './errors.ts';

/** What an operator may do: a viewer reads, an admin changes. */
export const ROLES = ['viewer', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** A person who runs the service. */
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

export interface OperatorToken {
  readonly id: number;
  readonly operator: string;
  readonly createdAt: number;
  /** Unix milliseconds. */
  readonly expiresAt: number | undefined;
}

/**
 * An operator's name, checked: 1 to 100 characters, no control characters, no white space at the ends.
 * @throws ServiceError `invalid_parameter`.
 */
export function operatorName(text: string): string {
  if (/^(?!\s)[^\p{Cc}\p{Cs}]{1,100}(?<!\s)$/u.test(text)) return text;
  throw new ServiceError(
    'invalid_parameter',
    'An operator name has 1 to 100 characters, no control characters and no white space at its ends.',
  );
}
