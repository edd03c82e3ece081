// Contract: section 8.2.
import { SECOND } from '../../domain/clock.ts';
import type { OpenService } from '../feature.ts';
import type { PetRepository } from './repository.ts';

export function open({ pets }: { readonly pets: PetRepository }) {
  return {
    tasks: [
      {
        name: 'the folding of names that the version before wrote',
        interval: SECOND,
        run: (signal) => pets.foldNames(signal),
      },
    ],
  } satisfies OpenService;
}
