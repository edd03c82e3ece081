// Contract: section 10.2.
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import type { Environment } from '../domain/api-key.ts';
import { ROLES } from '../domain/operator.ts';
import { read, type OperatorResource } from '../http/operation.ts';

interface Stores {
  readonly environment: Environment;
}

const Me = z
  .object({ name: z.string(), role: z.enum(ROLES), environment: z.string(), version: z.string() })
  .meta({ id: 'Me', description: 'The calling operator and the service.' });

const getMe = read(Me, {
  id: 'getMe',
  path: '/me',
  role: 'viewer',
  summary: 'Who am I',
  description:
    'Returns the operator of the session or token, and the environment and version of the service.',
  answer: { description: 'The operator.', examples: {} },
  async handle({ operator: { name, role } }, { environment }: Stores) {
    return { value: { name, role, environment, version: manifest.version } };
  },
});

export const ME: OperatorResource<Stores> = {
  name: 'Me',
  description: 'The calling operator.',
  operations: [getMe],
};
