// Contract: section 10.1.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ADMIN_OPERATIONS, type AdminStores } from '../admin/index.ts';
import { ServiceError } from '../domain/errors.ts';
import { expectation, parseObject } from '../domain/parse.ts';
import type { ClientAddress } from '../http/address.ts';
import { ClientGone, MEDIA_TYPES, readJsonBody } from '../http/body.ts';
import { errorReply } from '../http/errors.ts';
import { hostFault, parseTarget, requestId } from '../http/exchange.ts';
import { internalError } from '../http/messages.ts';
import type { Reply } from '../http/reply.ts';
import { Routes } from '../http/routes.ts';
import { createHttpServer, type HttpLimits } from '../http/server.ts';
import { fields, joinFields, trustedFields } from '../http/wire/text.ts';
import { answerRequests, type Response, type Server } from '../http/wire/wire.ts';
import { parseBody } from '../json.ts';
import type { QuotaCounter } from '../limits/counter.ts';
import type { Store } from '../storage/store.ts';
import { Access } from './access.ts';
import { AdminApi } from './admin-api.ts';

interface ConsoleDependencies {
  readonly stores: AdminStores & Pick<Store, 'operators'>;
  readonly counter: Pick<QuotaCounter, 'charge'>;
  readonly addressOf: ClientAddress;
  /** As in CONSOLE_URL. */
  readonly url: string | undefined;
  readonly log: Logger;
}

const PREFIX = '/admin/v1';

/** No answer of the console may stay in a cache, in a frame, or in the address that a link sends along. */
const PRIVATE = fields(
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
);

const SignIn = z.object({ link: z.string({ error: 'must be a string' }) });

/** The second listener: the console's pages, sign-in and the admin API. Nothing of it is on the public port. */
export class Console {
  readonly #log: Logger;
  readonly #access: Access;
  readonly #api: AdminApi;
  /** How many requests are not answered yet. */
  inFlight = 0;

  constructor({ stores, counter, addressOf, url, log }: ConsoleDependencies) {
    this.#log = log;
    const newSecret = () => randomBytes(32).toString('base64url');
    this.#access = new Access({ operators: stores.operators, counter, addressOf, url, newSecret });
    const routes = new Routes(ADMIN_OPERATIONS, PREFIX, PREFIX);
    this.#api = new AdminApi({ routes, stores, access: this.#access, base: PREFIX });
  }

  server(limits: HttpLimits): Server {
    const server = createHttpServer(limits);
    answerRequests(server, limits, {
      handle: (request, response, refusal) => void this.#handle(request, response, refusal),
      interrupt: () => false,
    });
    return server;
  }

  async #handle(request: IncomingMessage, response: Response, refusal?: Reply): Promise<void> {
    const id = requestId(request.headers['x-request-id']);
    this.inFlight++;
    try {
      const { status, headers, body, code } =
        refusal ??
        hostFault(request) ??
        (await this.#answer(request).catch((error: unknown) => this.#fault(id, error)));
      response.send(status, joinFields(headers, PRIVATE, trustedFields(`X-Request-Id: ${id}\r\n`)), body);
      if (!request.complete) request.resume();
      this.#log.debug({ id, method: request.method, status, code }, 'console request');
    } catch (error) {
      if (!(error instanceof ClientGone)) this.#log.error({ id, err: error }, 'no answer could be written');
      response.destroy();
    } finally {
      this.inFlight--;
    }
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const { path, query } = parseTarget(request.url ?? '/');
    if (path === undefined)
      return errorReply('invalid_request', 'The percent-encoding of the request target is broken.');
    if (path.startsWith(`${PREFIX}/`)) return this.#api.answer({ request, path, query });
    if (path === '/sign-in' && request.method === 'POST') return this.#signIn(request);
    if (path === '/sign-out' && request.method === 'POST') return this.#access.signOut(request);
    return errorReply('not_found', 'The console has no such page.');
  }

  async #signIn(request: IncomingMessage): Promise<Reply> {
    try {
      const bytes = await readJsonBody(request, () => expectation(SignIn), MEDIA_TYPES.POST);
      return await this.#access.signIn(request, parseObject(SignIn, parseBody(bytes)).link);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'unavailable') throw error;
      return errorReply(error.code, error.message);
    }
  }

  #fault(id: string, error: unknown): Reply {
    if (error instanceof ClientGone) throw error;
    if (error instanceof ServiceError) {
      this.#log.warn({ id, err: error }, error.message);
      return errorReply(error.code, error.message);
    }
    this.#log.error({ id, err: error }, 'internal error');
    return errorReply('internal_error', internalError(id));
  }
}
