// Contract: sections 3.14 and 10.2. Pages load this file.

export const ACCOUNT_STATES = ['active', 'suspended'] as const;

export const KEY_STATES = ['active', 'rotated', 'expired', 'revoked'] as const;

export type KeyState = (typeof KEY_STATES)[number];

/** The states by which lists of keys are filtered. A key that is banned or suspended also has a state of `KEY_STATES`. */
export const LISTED_STATES = [...KEY_STATES, 'banned', 'suspended'] as const;
