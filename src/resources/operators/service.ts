import { MINUTE } from '../../domain/clock.ts';
import type { OpenService } from '../feature.ts';
import type { OperatorRepository } from './repository.ts';

export function open({ operators }: { readonly operators: Pick<OperatorRepository, 'prune'> }) {
  return {
    tasks: [
      { name: 'the deletion of sessions that have ended', interval: MINUTE, run: () => operators.prune() },
    ],
  } satisfies OpenService;
}
