// Contract: section 10.
import type { Logger } from 'pino';
import { type Clock, DAY, MINUTE } from '../../domain/clock.ts';
import { reasonOf } from '../../domain/startup-error.ts';
import type { Dialect } from '../../storage/transaction.ts';
import type { OpenService } from '../feature.ts';
import type { AuditRepository } from './repository.ts';

const STAYS =
  'old entries of the audit log stay, because the role of the service may not delete them: see AUDIT_KEEP_DAYS';

interface Needs {
  readonly audit: Pick<AuditRepository, 'prune'>;
  readonly dialect: Pick<Dialect, 'lacksRight'>;
  /** Milliseconds that entries of keys stay. */
  readonly auditKept: number;
  readonly clock: Clock;
  readonly log: Logger;
}

export function open({ audit, dialect, auditKept, clock, log }: Needs) {
  let toldAt: number | undefined;
  /** Deletes old entries of keys. Where the role of the service lacks the right, one line a day says so. */
  const prune = async (signal: AbortSignal) => {
    try {
      await audit.prune(auditKept, signal);
    } catch (error) {
      if (!dialect.lacksRight(error)) throw error;
      const now = clock().monotonic;
      if (toldAt !== undefined && now - toldAt < DAY) return;
      toldAt = now;
      log.warn({ reason: reasonOf(error) }, STAYS);
    }
  };
  return {
    tasks: [{ name: 'the deletion of old entries of the audit log', interval: MINUTE, run: prune }],
  } satisfies OpenService;
}
