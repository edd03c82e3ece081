import { argv } from 'node:process';
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { z } from 'zod';
import type { Account } from '../account.ts';
import { fault, MESSAGES } from '../fault.ts';
import { nextLink, petAddress } from '../links.ts';
import { CreateBody, faultsOf, ListQuery } from '../schemas.ts';
import { openSqlite } from '../sqlite.ts';

// Run as `node server.ts PORT DATABASE_FILE`.

const [, , port, file = ''] = argv;
const store = openSqlite(file);

const app = express();
// As NODE_ENV=production sets it, which its documentation asks for.
app.set('env', 'production');
app.disable('x-powered-by');

const bearer: RequestHandler = (request, response, next) => {
  const [, key] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const account = key === undefined ? undefined : store.findAccount(key);
  if (account === undefined) {
    response.status(401).set('WWW-Authenticate', 'Bearer').json(fault(401, MESSAGES.key));
    return;
  }
  response.locals['account'] = account;
  next();
};

const limiter = rateLimit({
  windowMs: 60_000,
  limit: (_request, response) => accountOf(response).perMinute,
  keyGenerator: (_request, response) => accountOf(response).id.toString(),
  message: fault(429, MESSAGES.limit),
});

function accountOf({ locals }: Pick<Response, 'locals'>): Account {
  return locals['account'] as Account;
}

app.use('/v1', bearer, limiter);

app.get('/v1/pets', (request, response) => {
  const { data: query, error } = ListQuery.safeParse(request.query);
  if (query === undefined) return refuse(response, error);
  const page = store.list(query);
  if (page === undefined) return response.status(400).json(fault(400, MESSAGES.cursor));
  if (page.next !== undefined) response.set('Link', nextLink(request.host, page.next));
  return response.json(page.items);
});

app.post('/v1/pets', express.json({ limit: '16kb' }), (request, response) => {
  const { data: body, error } = CreateBody.safeParse(request.body);
  if (body === undefined) return refuse(response, error);
  const pet = store.create(body);
  return response.status(201).location(petAddress(request.host, pet.id)).json(pet);
});

app.get('/v1/pets/:petId', (request, response) => {
  const pet = store.get(request.params.petId);
  return pet === undefined ? response.status(404).json(fault(404, MESSAGES.pet)) : response.json(pet);
});

function refuse(response: Response, error: z.core.$ZodError): Response {
  return response.status(400).json(fault(400, faultsOf(error)));
}

// Four parameters make it a handler of errors.
app.use(((error: { status?: number; message: string }, _request, response, _next) => {
  const { status = 500, message } = error;
  response.status(status).json(fault(status, message));
}) satisfies ErrorRequestHandler);

app.listen(Number(port), '127.0.0.1');
