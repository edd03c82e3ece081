import { argv } from 'node:process';
import { serve } from '@hono/node-server';
import { zValidator } from '@hono/zod-validator';
import { type Context, Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { HTTPException } from 'hono/http-exception';
import { rateLimiter } from 'hono-rate-limiter';
import type { Account } from '../account.ts';
import { fault, MESSAGES } from '../fault.ts';
import { nextLink, petAddress } from '../links.ts';
import { CreateBody, faultsOf, ListQuery } from '../schemas.ts';
import { openSqlite } from '../sqlite.ts';

// Run as `node server.ts PORT DATABASE_FILE`.

interface Env {
  Variables: { account: Account };
}

const [, , port, file = ''] = argv;
const store = openSqlite(file);
const app = new Hono<Env>();

const unauthorized = { message: fault(401, MESSAGES.key) };
app.use(
  '/v1/*',
  bearerAuth<Env>({
    verifyToken(key, context) {
      const account = store.findAccount(key);
      if (account !== undefined) context.set('account', account);
      return account !== undefined;
    },
    noAuthenticationHeader: unauthorized,
    invalidAuthenticationHeader: unauthorized,
    invalidToken: unauthorized,
  }),
  rateLimiter<Env>({
    windowMs: 60_000,
    limit: (context) => context.get('account').perMinute,
    keyGenerator: (context) => context.get('account').id.toString(),
    message: fault(429, MESSAGES.limit),
  }),
);

app.get(
  '/v1/pets',
  zValidator('query', ListQuery, (result, context) =>
    result.success ? undefined : context.json(fault(400, faultsOf(result.error)), 400),
  ),
  (context) => {
    const page = store.list(context.req.valid('query'));
    if (page === undefined) return context.json(fault(400, MESSAGES.cursor), 400);
    if (page.next !== undefined) context.header('Link', nextLink(host(context), page.next));
    return context.json(page.items);
  },
);

app.post(
  '/v1/pets',
  zValidator('json', CreateBody, (result, context) =>
    result.success ? undefined : context.json(fault(400, faultsOf(result.error)), 400),
  ),
  (context) => {
    const pet = store.create(context.req.valid('json'));
    context.header('Location', petAddress(host(context), pet.id));
    return context.json(pet, 201);
  },
);

app.get('/v1/pets/:petId', (context) => {
  const pet = store.get(context.req.param('petId'));
  return pet === undefined ? context.json(fault(404, MESSAGES.pet), 404) : context.json(pet);
});

app.onError((error, context) => {
  if (error instanceof HTTPException && error.res !== undefined) return error.res;
  const status = error instanceof HTTPException ? error.status : 500;
  return context.json(fault(status, error.message), status);
});

function host(context: Context): string {
  return context.req.header('host') ?? '';
}

serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' });
