// Contract: section 2.

/** An order is open while it is pending. */
export const ORDER_STATUSES = ['pending', 'complete', 'cancelled', 'expired'] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** Orders of a kind that are counted at most. */
export const MOST_COUNTED = 10_000;
