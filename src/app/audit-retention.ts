// Contract: section 10.
import type { Logger } from 'pino';
import { type Clock, DAY } from '../domain/clock.ts';
import { reasonOf } from '../domain/startup-error.ts';
import type { Store } from '../resources/repositories.ts';

const STAYS =
  'old entries of the audit log stay, because the role of the service may not delete them: see AUDIT_KEEP_DAYS';

interface RetentionSettings {
  readonly store: Pick<Store, 'audit' | 'dialect'>;
  /** Milliseconds that entries of keys stay. */
  readonly auditKept: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Deletes old entries of keys. Where the role of the service lacks the right, one line a day says so. */
export function auditRetention({ store, auditKept, clock, log }: RetentionSettings) {
  let toldAt: number | undefined;
  return async (signal?: AbortSignal): Promise<void> => {
    try {
      await store.audit.prune(auditKept, signal);
    } catch (error) {
      if (!store.dialect.lacksRight(error)) throw error;
      const now = clock().monotonic;
      if (toldAt !== undefined && now - toldAt < DAY) return;
      toldAt = now;
      log.warn({ reason: reasonOf(error) }, STAYS);
    }
  };
}
