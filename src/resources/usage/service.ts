// Contract: section 6.9.
import { randomUUID } from 'node:crypto';
import { MINUTE } from '../../domain/clock.ts';
import { UsageCounts } from '../../observability/key-usage.ts';
import type { OpenService } from '../feature.ts';
import type { UsageRepository } from './repository.ts';

/** Milliseconds between two writes of the usage history. What a crash may lose: section 6.9. */
const INTERVAL = 5_000;

interface Needs {
  readonly usageHistory: UsageRepository;
  /** The operations for clients, in the order in which they are numbered. */
  readonly operationIds: readonly string[];
}

export function open({ usageHistory, operationIds }: Needs) {
  const usage = new UsageCounts(usageHistory, randomUUID(), operationIds);
  const write = (signal: AbortSignal) => usage.flush(signal);
  const unwritten = () =>
    usage.unwritten > 0 ? `${usage.unwritten} requests of the usage history` : undefined;
  return {
    uses: { usage },
    tasks: [
      { name: 'the usage history', interval: INTERVAL, run: write, atStop: { finish: write, unwritten } },
      {
        name: 'the move of hours that the version before wrote',
        interval: MINUTE,
        run: (signal) => usageHistory.moveFormerHours(signal),
      },
      { name: 'the deletion of old usage', interval: MINUTE, run: (signal) => usageHistory.prune(signal) },
    ],
  } satisfies OpenService;
}
