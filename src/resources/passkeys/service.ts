// Contract: section 10.1.
import type { Environment } from '../../domain/api-key.ts';
import { MINUTE } from '../../domain/clock.ts';
import type { OpenService } from '../feature.ts';
import { createCeremonies } from './ceremonies.ts';
import type { PasskeyRepository } from './repository.ts';

interface Needs {
  readonly passkeys: PasskeyRepository;
  readonly environment: Environment;
}

export function open({ passkeys, environment }: Needs) {
  return {
    uses: { ceremonies: createCeremonies(passkeys, environment) },
    tasks: [
      { name: 'the deletion of challenges that have ended', interval: MINUTE, run: () => passkeys.prune() },
    ],
  } satisfies OpenService;
}
