import { time } from '../../config/variables.ts';
import { DAY } from '../../domain/clock.ts';
import { feature } from '../feature.ts';
import * as repository from './repository.ts';

export const audit = feature({
  name: 'audit',
  repositories: { audit: repository },
  settings: {
    /** Milliseconds that entries of keys stay in the audit log. */
    auditKept: ['AUDIT_KEEP_DAYS', time(DAY, 30, 3_650, 400)],
  },
  commands: {
    audit: async () => (await import('./commands.ts')).auditCommand,
  },
  operations: () => import('./operations.ts'),
  service: () => import('./service.ts'),
});
