import { argv } from 'node:process';
import bearerAuth from '@fastify/bearer-auth';
import rateLimit from '@fastify/rate-limit';
import Fastify, { type FastifyError } from 'fastify';
import { Redis } from 'ioredis';
import pg from 'pg';
import { type Account, findAccount } from './accounts.ts';
import { petRoutes } from './pets.ts';

// The three operations as they are usually built: a framework, its plugins, and one query for one thing, over the
// service's own tables. Run as `node server.ts PORT DATABASE_URL REDIS_URL CONNECTIONS`.

const [, , port, databaseUrl, redisUrl = '', connections] = argv;

const INT8 = 20;
pg.types.setTypeParser(INT8, BigInt);
const pool = new pg.Pool({ connectionString: databaseUrl, max: Number(connections) });

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limit_exceeded',
};

const app = Fastify({ logger: false });
app.setErrorHandler((error: FastifyError, _request, reply) => {
  const { statusCode: status = 500, message } = error;
  return reply.status(status).send({ code: CODES[status] ?? 'internal_error', message, status });
});

app.decorateRequest('account', null);
await app.register(bearerAuth, {
  keys: new Set<string>(),
  auth: async (key, request) => {
    const account = await findAccount(pool, key);
    request.setDecorator('account', account);
    return account !== undefined;
  },
  // The schema of an error leaves out what the plugin's own type demands.
  errorResponse: ({ message }) => ({ error: message, code: CODES[401], message, status: 401 }),
  contentType: 'application/json; charset=utf-8',
});
await app.register(rateLimit, {
  // Set up as the plugin's documentation says, with the pipelining that it offers.
  redis: new Redis(redisUrl, { enableAutoPipelining: true, connectTimeout: 500, maxRetriesPerRequest: 1 }),
  nameSpace: 'petstore-bench-conventional-',
  timeWindow: '1 minute',
  keyGenerator: (request) => request.getDecorator<Account>('account').id.toString(),
  max: (request) => request.getDecorator<Account>('account').perMinute,
});
petRoutes(app, pool);
await app.listen({ port: Number(port), host: '127.0.0.1' });
