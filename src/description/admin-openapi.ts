// Contract: section 10.2.
import { ADMIN_RESOURCES } from '../admin/index.ts';
import { LINK_LIFETIME, SESSION_LIFETIME } from '../domain/operator.ts';
import { HOUR } from '../domain/usage.ts';
import { MINUTE } from '../domain/clock.ts';
import { JSON_CONTENT, otherMethodReply } from '../http/errors.ts';
import type { Reply } from '../http/reply.ts';
import { octets } from 'direct-http';
import type { ConsoleRequest } from '../console/console-request.ts';
import { describeAdminOperation } from './admin-operations.ts';
import { adminSchemas } from './admin-schemas.ts';

export const DESCRIPTION_PATH = '/admin/openapi.json';

const METHODS = 'GET, HEAD';

const ABOUT = `Operators read accounts, keys, usage, faults and the audit log, and change accounts, keys, bans and operators.

A **viewer** reads, an **admin** also changes. Each operation says which role it needs. Sign in with a link of
\`petstore console\`, which works once within ${LINK_LIFETIME / MINUTE} minutes. The session lasts
${SESSION_LIFETIME / HOUR} hours. A program sends a token of \`petstore operators token\`.

Every change is in the audit log with the name of the operator. No answer may be cached. Lists have pages: follow the
\`Link\` header.`;

/** The OpenAPI description of the admin API, derived from its declarations. */
export function adminOpenApi() {
  const paths: Record<string, Record<string, object>> = {};
  for (const { name, operations } of ADMIN_RESOURCES)
    for (const each of operations)
      (paths[each.path] ??= {})[each.method.toLowerCase()] = describeAdminOperation(each, name);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet Store admin API',
      version: '1.0.0',
      summary: 'Accounts, keys, usage and changes, for operators.',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/admin/v1', description: 'The console that serves this description.' }],
    tags: ADMIN_RESOURCES.map(({ name, description }) => ({ name, description })),
    security: [{ session: [] }, { token: [] }],
    paths,
    components: {
      schemas: adminSchemas(ADMIN_RESOURCES.flatMap(({ operations }) => operations)),
      securitySchemes: {
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
      },
    },
  };
}

let written: Reply | undefined;

/** Answers requests for the description. Everybody who reaches the listener may read it, because it holds no data. */
export function adminDescription(asked: ConsoleRequest): Reply {
  asked.route = DESCRIPTION_PATH;
  if (!METHODS.split(', ').includes(asked.request.method ?? '')) return otherMethodReply(METHODS);
  written ??= {
    status: 200,
    headers: JSON_CONTENT,
    body: octets(JSON.stringify(adminOpenApi(), null, 2)),
  };
  return written;
}
