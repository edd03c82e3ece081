import type { OpenService } from '../feature.ts';
import type { OperatorRepository } from './repository.ts';

export function open({ operators }: { readonly operators: Pick<OperatorRepository, 'prune'> }) {
  return { prune: () => operators.prune() } satisfies OpenService;
}
