// Contract: section 10.2.
import { OPERATOR_RESOURCES } from '../resources/operations.ts';
import { SESSION_LIFETIME } from '../domain/operator.ts';
import { LINK_LIFETIME } from '../resources/operators/rules.ts';

import { doAtOnce } from '../domain/parts.ts';
import { MINUTE, HOUR } from '../domain/clock.ts';
import { describeGroups, descriptionText } from './openapi.ts';
import { shareResponses } from './shared-responses.ts';

const ABOUT = `Operators read accounts, keys, usage, failed requests and the audit log, and change accounts, keys, bans and operators.
They see the whole catalogue: animals, categories, and the orders of all accounts.

A **viewer** reads, an **admin** also changes. Each operation says which role it needs. Sign in with a link of
\`petstore console\`, which works once within ${LINK_LIFETIME / MINUTE} minutes. The session lasts
${SESSION_LIFETIME / HOUR} hours. A program sends a token of \`petstore operators token\`.

Every change is in the audit log with the name of the operator. No answer may be cached. Lists have pages: follow the
\`Link\` header.`;

/** The OpenAPI description of the admin API, derived from its declarations. */
export function adminOpenApi() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet Store admin API',
      version: '1.0.0',
      summary: 'Accounts, keys, usage, the catalogue and changes, for operators.',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/admin/v1', description: 'The console that serves this description.' }],
    security: [{ session: [] }, { token: [] }],
    ...doAtOnce(
      describeGroups(OPERATOR_RESOURCES, '/admin/v1', {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'petstore_console',
          description:
            'The session of a browser. When the console is served over https, its name begins with `__Host-`. In staging, ' +
            'it ends with `_staging`. A change also needs the `Origin` of the console.',
        },
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of a program: `petstore_admin_…`.',
        },
      }),
    ),
  };
}

let written: string | undefined;

/** The description as JSON, made at the first call. */
export function adminDescription(): string {
  written ??= descriptionText(shareResponses(adminOpenApi()));
  return written;
}
