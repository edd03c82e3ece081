// Contract: section 13.
import { SECOND } from '../../domain/clock.ts';
import type { OpenService } from '../feature.ts';
import { LimitWatch, type WatchedRepositories } from './limit-watch.ts';

export function open(repositories: WatchedRepositories) {
  const limitWatch = new LimitWatch(repositories);
  const write = () => limitWatch.flush();
  return {
    uses: { limitWatch },
    tasks: [
      { name: 'the events of bans and limits', interval: SECOND, run: write, atStop: { finish: write } },
    ],
  } satisfies OpenService;
}
