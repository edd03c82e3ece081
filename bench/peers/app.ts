import bearerAuth from '@fastify/bearer-auth';
import rateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Account } from './account.ts';
import { CREATE, GET, LIST } from './schemas.ts';
import type { NewPet, PageQuery, Store } from './store.ts';

/** The specified operations in fastify, with its plugins; `counters` says where the rate limiter counts. */
export async function petstoreApp(
  store: Store,
  counters: Pick<RateLimitPluginOptions, 'redis' | 'nameSpace'>,
): Promise<FastifyInstance> {
  const app = Fastify({ logger: false });
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const { statusCode: status = 500, message } = error;
    return reply.status(status).send(fault(status, message));
  });
  app.decorateRequest('account', null);
  await app.register(bearerAuth, {
    keys: new Set<string>(),
    auth: async (key, request) => {
      const account = await store.findAccount(key);
      request.setDecorator('account', account);
      return account !== undefined;
    },
    // The schema of an error leaves out what the plugin's own type demands.
    errorResponse: ({ message }) => ({ error: message, ...fault(401, message) }),
    contentType: 'application/json; charset=utf-8',
  });
  await app.register(rateLimit, {
    ...counters,
    timeWindow: '1 minute',
    keyGenerator: (request) => request.getDecorator<Account>('account').id.toString(),
    max: (request) => request.getDecorator<Account>('account').perMinute,
  });

  app.get<{ Querystring: PageQuery }>('/v1/pets', { schema: LIST }, async ({ query, host }, reply) => {
    const page = await store.list(query);
    if (page === undefined) return reply.code(400).send(fault(400, 'The cursor is invalid.'));
    if (page.next !== undefined) reply.header('link', `<http://${host}/v1/pets?${page.next}>; rel="next"`);
    return page.pets;
  });

  app.post<{ Body: NewPet }>('/v1/pets', { schema: CREATE }, async ({ body, host }, reply) => {
    const pet = await store.create(body);
    reply.code(201).header('location', `http://${host}/v1/pets/${pet.id}`);
    return pet;
  });

  app.get<{ Params: { petId: string } }>('/v1/pets/:petId', { schema: GET }, async ({ params }, reply) => {
    const pet = await store.get(params.petId);
    return pet ?? reply.code(404).send(fault(404, 'There is no animal with this petId.'));
  });
  return app;
}

/** The body of an error. */
function fault(status: number, message: string) {
  return { code: CODES[status] ?? 'internal_error', message, status };
}

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limit_exceeded',
};
