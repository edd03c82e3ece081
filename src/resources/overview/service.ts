// Contract: section 10.2.
import type { OpenService } from '../feature.ts';
import { animalsReader } from './animals.ts';
import { nearestReader } from './nearest.ts';

export function open(needs: Parameters<typeof nearestReader>[0] & Parameters<typeof animalsReader>[0]) {
  return { uses: { nearest: nearestReader(needs), animals: animalsReader(needs) } } satisfies OpenService;
}
