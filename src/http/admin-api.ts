// Contract: sections 10.1 and 10.2.
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { z } from 'zod';
import { BODY_LIMIT } from '../domain/errors.ts';
import { parseBody, parseObject } from '../domain/parse.ts';
import { Access, type AccessDependencies } from './auth/access.ts';
import { SignedChallenge } from './auth/signed-challenge.ts';
import { MEDIA_TYPES, readJsonBody } from './body.ts';
import { type RequestContext, requireBound, runSteps, type Step, type Response } from './context.ts';
import type { Api } from './listener.ts';
import type { Operation } from './operation.ts';
import { errorResponse, JSON_CONTENT, otherMethodResponse } from './response.ts';
import { bindOperations, Routes } from './routes.ts';
import {
  handle,
  readBody,
  readParameters,
  refuseIfDraining,
  refuseIfStoreLost,
  requireDecodedPath,
  requireOperation,
  type ServingState,
} from './steps.ts';
import { type Fields, fields, joinFields, NO_FIELDS, octets } from 'direct-http';

const PREFIX = '/admin/v1';
const DESCRIPTION = '/admin/openapi.json';

export const LACKS_ROLE = 'Your role is viewer, which only reads: ask an operator with the role admin.';

/** The pages of the console. They hold no data, so they need no session. */
export interface ConsolePages {
  /** The path as log and metrics name it; undefined when it is no page. */
  route(path: string): string | undefined;
  answer(context: Pick<RequestContext, 'path' | 'request'>): Promise<Response>;
  /** The page for an address that has none. It says so, and leads to the others. */
  notFound(request: Pick<IncomingMessage, 'headers'>): Promise<Response>;
}

export interface AdminApiOptions<Uses> extends AccessDependencies {
  readonly operations: readonly Operation<Uses>[];
  readonly uses: Uses;
  readonly pages: ConsolePages;
  /** The OpenAPI description as JSON. Everybody who reaches the listener may read it, because it holds no data. */
  readonly description: () => string;
  readonly state: ServingState;
  readonly log: Logger;
}

interface Service {
  readonly access: Access;
  readonly pages: ConsolePages;
  readonly description: () => string;
  readonly state: ServingState;
  readonly base: string;
  readonly caching: Fields;
  readonly explainUnknown: () => string;
}

const requireOwnHost: Step<Service> = ({ request }, { access }) => access.refuseHost(request);

const servePages: Step<Service> = (context, { pages }) => {
  const { path, request } = context;
  if (path === undefined || pages.route(path) === undefined) return undefined;
  // The page of this path sends its form there.
  return path === '/sign-in' && request.method === 'POST' ? undefined : pages.answer(context);
};

const serveDescription: Step<Service> = ({ path, request }, { description }) => {
  if (path !== DESCRIPTION) return undefined;
  if (request.method !== 'GET' && request.method !== 'HEAD') return otherMethodResponse('GET, HEAD');
  return { status: 200, headers: JSON_CONTENT, body: octets(description()) };
};

const Link = z.object({ link: z.string({ error: 'must be a string' }) });
const Passkey = z.object({ passkey: SignedChallenge });

/** The paths that sign in and out. Each takes POST. */
const SIGN_IN: Readonly<Record<string, (context: RequestContext, access: Access) => Promise<Response>>> = {
  '/sign-in': async (context, access) => {
    const { request } = context;
    const bytes = await readJsonBody(context, { schema: Link, limit: BODY_LIMIT }, MEDIA_TYPES.POST);
    const body = parseBody(bytes);
    return typeof body === 'object' && body !== null && 'passkey' in body
      ? access.signInWithPasskey(request, parseObject(Passkey, body).passkey)
      : access.signIn(request, parseObject(Link, body).link);
  },
  '/sign-in/challenge': ({ request }, access) => access.beginSignIn(request),
  '/sign-out': ({ request }, access) => access.signOut(request),
};

const signInOrOut: Step<Service> = (context, { access }) => {
  const { path = '', request } = context;
  if (!Object.hasOwn(SIGN_IN, path)) return undefined;
  return request.method === 'POST' ? SIGN_IN[path]?.(context, access) : otherMethodResponse('POST');
};

/** A browser that opens a wrong address gets a page, and a program an error. */
const requireApiPath: Step<Service> = ({ path, request }, { pages }) => {
  if (path?.startsWith(`${PREFIX}/`)) return undefined;
  const { method, headers } = request;
  const isBrowser = (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html');
  return isBrowser ? pages.notFound(request) : errorResponse('not_found', 'The console has no such page.');
};

/** Finds the operator. A change by a session must come from a page of the console. */
const enter: Step<Service> = async (context, { access }) => {
  const entry = await access.enter(context.request);
  if ('refusal' in entry) return entry.refusal;
  context.operator = entry.operator;
  context.actor = entry.actor;
  context.origin = entry.origin;
  return undefined;
};

const requireRole: Step<Service> = (context) => {
  const { operation, operator } = requireBound(context);
  return operation.declaration.role === 'admin' && operator?.role !== 'admin'
    ? errorResponse('insufficient_scope', LACKS_ROLE)
    : undefined;
};

/** Everything that the console's listener checks, in its order. */
const ADMIN_API: readonly Step<Service>[] = [
  requireOwnHost,
  servePages,
  refuseIfDraining,
  refuseIfStoreLost,
  requireDecodedPath,
  serveDescription,
  signInOrOut,
  requireApiPath,
  enter,
  requireOperation,
  requireRole,
  readParameters,
  readBody,
  handle,
];

/** On every response: no other site can frame it, load it or take it for something else. */
const SHIELD = fields('X-Frame-Options', 'DENY', 'Cross-Origin-Resource-Policy', 'same-origin');

/** On every response except those of pages and their files, which have their own Cache-Control. */
const UNSTORED = joinFields(SHIELD, fields('Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'));

/** The admin API, sign-in and the pages of the console. Nothing of it is on the public port. */
export function createAdminApi<Uses>({
  operations,
  uses,
  pages,
  description,
  state,
  log,
  ...access
}: AdminApiOptions<Uses>): Api {
  const routes = new Routes(bindOperations(operations, uses, PREFIX), PREFIX);
  const service: Service = {
    access: new Access(access),
    pages,
    description,
    state,
    base: PREFIX,
    // `finish` adds Cache-Control to every response.
    caching: NO_FIELDS,
    explainUnknown: () => 'The admin API has no such path.',
  };
  return {
    routes,
    respond: (context) => runSteps(ADMIN_API, context, service),
    finish: (_, { headers }) => (headers.includes('Cache-Control: ') ? SHIELD : UNSTORED),
    nameRoute: (path) => (path === DESCRIPTION || Object.hasOwn(SIGN_IN, path) ? path : pages.route(path)),
    record({ id, request, operator, outage: reason }, { status, code }, { route, duration, waited }) {
      const { method = '' } = request;
      const durationMs = toMicrosecond(duration);
      const waitedMs = waited >= 1 ? toMicrosecond(waited) : undefined;
      const isQuiet = status < 400 && (method === 'GET' || method === 'HEAD');
      const level = reason === undefined ? (isQuiet ? 'debug' : 'info') : 'warn';
      const entry = {
        id,
        operator: operator?.name,
        method,
        route,
        status,
        code,
        reason,
        durationMs,
        waitedMs,
      };
      log[level](entry, 'console request');
    },
  };
}

function toMicrosecond(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
