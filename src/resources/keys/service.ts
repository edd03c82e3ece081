// Contract: section 8.
import type { Clock } from '../../domain/clock.ts';
import { KeyUses } from '../../observability/key-usage.ts';
import type { OpenService } from '../feature.ts';
import type { KeyRepository } from './repository.ts';

interface Needs {
  readonly keys: Pick<KeyRepository, 'writeUses' | 'recordExpiring'>;
  readonly clock: Clock;
}

export function open({ keys, clock }: Needs) {
  const keyUses = new KeyUses(clock, (uses) => keys.writeUses(uses));
  return {
    uses: { keyUses },
    flush: (signal) => keyUses.flush(signal),
    finish: (signal) => keyUses.flushAll(signal),
    unwritten() {
      const { unwritten: lastUses } = keyUses;
      return {
        counts: { lastUses },
        text: lastUses > 0 ? `the last use of ${lastUses} keys` : undefined,
      };
    },
    prune: (signal) => keys.recordExpiring(signal),
  } satisfies OpenService;
}
