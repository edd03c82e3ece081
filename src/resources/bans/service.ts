// Contract: section 13.
import type { OpenService } from '../feature.ts';
import { LimitWatch, type WatchedRepositories } from './limit-watch.ts';

export function open(repositories: WatchedRepositories) {
  const limitWatch = new LimitWatch(repositories);
  return {
    uses: { limitWatch },
    flush: () => limitWatch.flush(),
    finish: () => limitWatch.flush(),
  } satisfies OpenService;
}
