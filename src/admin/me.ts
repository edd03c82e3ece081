// Contract: section 10.2.
import { z } from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import type { Environment } from '../domain/api-key.ts';
import { ROLES } from '../domain/operator.ts';
import { operatorOperation, type OperatorResource } from '../http/operation.ts';

interface Stores {
  readonly environment: Environment;
}

const Me = z
  .object({ name: z.string(), role: z.enum(ROLES), environment: z.string(), version: z.string() })
  .meta({ id: 'Me', description: 'The calling operator and the service.' });

const getMe = operatorOperation({
  id: 'getMe',
  method: 'GET',
  path: '/me',
  role: 'viewer',
  summary: 'Who am I',
  description:
    'Returns the operator of the session or token, and the environment and version of the service.',
  parameters: {},
  answers: { 200: { description: 'The operator.', content: { schema: Me, examples: {} } } },
  errors: {},
  async handle({ operator: { name, role } }, { environment }: Stores) {
    return { status: 200, json: JSON.stringify({ name, role, environment, version: manifest.version }) };
  },
});

export const ME: OperatorResource<Stores> = {
  name: 'Me',
  description: 'The calling operator.',
  operations: [getMe],
};
