// Contract: section 2.

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;

export const ORDER_STATUSES = ['pending', 'complete', 'cancelled', 'expired'] as const;
