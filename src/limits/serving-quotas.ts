// Contract: section 6.
import { ServiceError } from '../domain/errors.ts';
import type { QuotaAdmin } from './counter.ts';
import { withTimeout } from './timeout.ts';

/** Milliseconds. Longer than a request waits, because a list of all bans takes many round trips to Redis. */
const PATIENCE = 2_000;

/**
 * The operator's view in a process that serves. `inUse` gives that of the counters in use, because they may be opened
 * again. Without an answer in time, for example while Redis is down, each method rejects with ServiceError `unavailable`.
 */
export function servingQuotas(inUse: () => QuotaAdmin): QuotaAdmin {
  return {
    listBans: () => inTime(inUse().listBans()),
    bansOf: (accountId, keyIds) => inTime(inUse().bansOf(accountId, keyIds)),
    liftBan: (author, keyId) => inTime(inUse().liftBan(author, keyId)),
    usageOf: (account) => inTime(inUse().usageOf(account)),
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  try {
    return await withTimeout(answer, PATIENCE);
  } catch (cause) {
    throw new ServiceError('unavailable', 'The counters cannot be read now; try again later.', { cause });
  }
}
