// Contract: section 10.

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

/** Milliseconds that a session lasts. */
export const SESSION_LIFETIME = 43_200_000;
