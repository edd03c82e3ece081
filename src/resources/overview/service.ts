// Contract: section 10.2.
import type { OpenService } from '../feature.ts';
import { nearestReader } from './nearest.ts';

export function open(needs: Parameters<typeof nearestReader>[0]) {
  return { uses: { nearest: nearestReader(needs) } } satisfies OpenService;
}
