// Contract: section 6.
/** Requests that an account may make per minute and per UTC day. Both are whole numbers of at least 1. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

/**
 * What the holder of an account may ask of the account itself, whatever its plan: enough to look, and to revoke a key. These
 * requests have windows of their own, which no ban closes.
 */
export const HOLDER_LIMITS: Limits = { perMinute: 60, perDay: 5_000 };

/** Pages about the API, and its descriptions, that a client address may ask for: no person and no program needs more. */
export const PAGE_LIMITS: Limits = { perMinute: 120, perDay: 10_000 };

/** Requests in a window. A larger limit is a typing error. */
export const LIMIT_MAX = 1_000_000_000;

/** The limits of each plan. Enterprise limits are negotiated, so the account has its own. */
export const PLANS = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
  enterprise: 'custom',
} as const satisfies Record<string, Limits | 'custom'>;

export type Plan = keyof typeof PLANS;

export const PLAN_NAMES = Object.keys(PLANS) as readonly Plan[];
