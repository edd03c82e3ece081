// Contract: section 8.
import { type Clock, MINUTE, SECOND } from '../../domain/clock.ts';
import { KeyUses } from '../../observability/key-usage.ts';
import type { OpenService } from '../feature.ts';
import type { KeyRepository } from './repository.ts';

interface Needs {
  readonly keys: Pick<KeyRepository, 'writeUses' | 'recordExpiring'>;
  readonly clock: Clock;
}

export function open({ keys, clock }: Needs) {
  const keyUses = new KeyUses(clock, (uses) => keys.writeUses(uses));
  const unwritten = () => (keyUses.unwritten > 0 ? `the last use of ${keyUses.unwritten} keys` : undefined);
  return {
    uses: { keyUses },
    tasks: [
      {
        name: 'the last use of keys',
        interval: SECOND,
        run: (signal) => keyUses.flush(signal),
        atStop: { finish: (signal) => keyUses.flushAll(signal), unwritten },
      },
      {
        name: 'the events of keys that expire',
        interval: MINUTE,
        run: (signal) => keys.recordExpiring(signal),
      },
    ],
  } satisfies OpenService;
}
