// Contract: section 8.2.
import { randomUUID } from 'node:crypto';
import type { Environment } from '../domain/api-key.ts';
import { isInForce } from '../domain/account.ts';
import { type Clock, DAY, HOUR } from '../domain/clock.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Store } from '../resources/repositories.ts';
import { INVENTED_DAYS, inventUsage } from './invented-usage.ts';
import { Progress, type ProgressTerminal } from '../terminal/progress.ts';

export interface UsageSettings {
  readonly store: Pick<Store, 'keys' | 'usageHistory'>;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly randomSeed: number;
  /** Where the progress is shown. */
  readonly stderr: ProgressTerminal;
}

export interface SeededUsage {
  readonly keys: number;
  readonly requests: number;
}

/**
 * Adds invented usage of the 30 days before today for each key that has none in those days.
 * @throws ServiceError `conflict` when there is no such key.
 */
export async function seedUsage({
  store,
  environment,
  clock,
  randomSeed,
  stderr,
}: UsageSettings): Promise<SeededUsage> {
  const { keys: keyRepository, usageHistory } = store;
  const now = Math.floor(clock().unix);
  const today = Math.floor(now / DAY) * DAY;
  const before = { interval: 'day', from: today - INVENTED_DAYS * DAY, to: today } as const;
  const used = new Set((await usageHistory.sums({ ...before, by: 'key' })).map(({ keyId }) => keyId));
  const progress = new Progress(stderr, clock, 'keys');
  let keys = 0;
  let requests = 0;
  for (const key of await keyRepository.listAll()) {
    if (key.environment !== environment || !isInForce(key, now) || used.has(key.id)) continue;
    const counts = inventUsage(key, randomSeed, now);
    const last = counts.at(-1);
    // First, because the next run leaves out keys that have usage.
    if (last !== undefined) {
      const lastUse = Math.min(now, (last.hour + 1) * HOUR - 1);
      await keyRepository.writeUses([[key.id, Math.max(lastUse, key.lastUsedAt ?? 0)]]);
    }
    // One transaction, so that no key has a part of its usage when the command is stopped.
    await usageHistory.add({ writer: randomUUID(), sequence: 1, counts });
    for (const { counts: outcomes } of counts) requests += outcomes.reduce((sum, count) => sum + count, 0);
    progress.update(++keys);
  }
  progress.clear();
  if (keys > 0) return { keys, requests };
  throw new ServiceError(
    'conflict',
    `No key of ${environment} is without usage before today: make one with petstore keys create.`,
  );
}
