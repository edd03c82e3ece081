// Contract: section 10.1.
import type { IncomingMessage } from 'node:http';
import { type Environment, TOKEN_PREFIX } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Operator } from '../../domain/operator.ts';
import type { Result } from '../../domain/result.ts';
import type { RateLimiter } from '../../limits/limiter.ts';
import type { ClientAddress } from '../address.ts';
import { retryAfter } from '../rate-limit.ts';
import { errorResponse } from '../response.ts';
import type { Response } from '../context.ts';
import { ownOrigin } from './own-origin.ts';
import { readBearer } from './api-key.ts';
import { SessionCookie } from './session-cookie.ts';

/** Failed sign-ins, sessions and tokens that one client address may send. */
const ATTEMPTS = { perMinute: 20, perDay: 1_000 };

export const NO_SESSION = 'There is no session, or it has ended: sign in with a new link (petstore console).';
const OTHER_TOKEN =
  'The token is unknown, has expired or was revoked: create a new one (petstore operators token).';
const LINK_ENDED = 'The link was used, or its 10 minutes are over: get a new one (petstore console).';
const FOREIGN = 'A change must come from a page of the console: send its address as Origin, or use a token.';
export const tooManyAttempts = (seconds: string) =>
  `Too many failed attempts from this address: wait ${seconds} s.`;
const OTHER_HOST = 'The console has no such host name: set CONSOLE_URL to the address that you use.';

/** The secrets of operators. They reject as the store does. */
interface OperatorSecrets {
  /** The operator of a session or a token that is in force. */
  authenticate(kind: 'session' | 'token', text: string): Promise<Operator | undefined>;
  /** Uses up the link with this text, begins a session, and ends the session `earlier`. */
  signIn(
    link: string,
    address: string,
    earlier: string | undefined,
  ): Promise<Result<{ readonly session: { reveal(): string } }, 'unauthorized'>>;
  /** Ends a session at once, on every instance. */
  signOut(session: string): Promise<void>;
}

export interface AccessDependencies {
  readonly secrets: OperatorSecrets;
  readonly limiter: Pick<RateLimiter, 'charge'>;
  readonly addressOf: ClientAddress;
  /** CONSOLE_URL: the origin of the console as browsers name it. */
  readonly url: string | undefined;
  readonly environment: Environment;
}

export type Entry = { readonly operator: Operator; readonly actor: Actor } | { readonly refusal: Response };

/** Checks sessions in a cookie, tokens of programs, and links that sign in. */
export class Access {
  readonly #deps: AccessDependencies;
  readonly #cookie: SessionCookie;

  constructor(deps: AccessDependencies) {
    this.#deps = deps;
    const isSecure = deps.url?.startsWith('https:') ?? false;
    this.#cookie = new SessionCookie({ isSecure, environment: deps.environment });
  }

  /** The refusal of a request to a host name that is not the console's. */
  refuseHost({ headers }: IncomingMessage): Response | undefined {
    return ownOrigin(this.#deps.url, headers.host) === undefined
      ? errorResponse('invalid_request', OTHER_HOST)
      : undefined;
  }

  /** The operator of a request to the admin API. */
  async enter(request: IncomingMessage): Promise<Entry> {
    const { secrets } = this.#deps;
    const token = bearerToken(request);
    const session = this.#cookie.read(request.headers);
    // A bearer token without our prefix comes from a proxy in front, such as single sign-on. It is not a failed attempt.
    if (token?.startsWith(TOKEN_PREFIX) === true) {
      const operator = await secrets.authenticate('token', token);
      if (operator === undefined) return { refusal: await this.#refuse(request, OTHER_TOKEN) };
      return { operator, actor: this.#actor(operator, request) };
    }
    if (session === undefined) return { refusal: errorResponse('unauthorized', NO_SESSION) };
    const operator = await secrets.authenticate('session', session);
    if (operator === undefined) return { refusal: await this.#refuse(request, NO_SESSION) };
    // A browser also adds the cookie to requests of other sites. A program adds its token on purpose.
    if (!isRead(request) && !this.#isFromConsole(request))
      return { refusal: errorResponse('insufficient_scope', FOREIGN) };
    return { operator, actor: this.#actor(operator, request) };
  }

  /** Exchanges the secret of a link for a new session. It ends the session that the browser sends. */
  async signIn(request: IncomingMessage, link: string): Promise<Response> {
    if (!this.#isFromConsole(request)) return errorResponse('insufficient_scope', FOREIGN);
    const { secrets, addressOf } = this.#deps;
    const signedIn = await secrets.signIn(link, addressOf(request), this.#cookie.read(request.headers));
    if ('error' in signedIn) return this.#refuse(request, LINK_ENDED);
    return { status: 204, headers: this.#cookie.set(signedIn.value.session.reveal()) };
  }

  /** Ends the session of the request, if there is one. */
  async signOut(request: IncomingMessage): Promise<Response> {
    if (!this.#isFromConsole(request)) return errorResponse('insufficient_scope', FOREIGN);
    const session = this.#cookie.read(request.headers);
    if (session !== undefined) await this.#deps.secrets.signOut(session);
    return { status: 204, headers: this.#cookie.clear() };
  }

  /** Whether a page of the console sent the request. */
  #isFromConsole({ headers }: IncomingMessage): boolean {
    return headers.origin !== undefined && headers.origin === ownOrigin(this.#deps.url, headers.host);
  }

  /** The answer to a failed attempt, which counts for its address. */
  async #refuse(request: IncomingMessage, message: string): Promise<Response> {
    const address = `console ${this.#deps.addressOf(request)}`;
    const { kind, quota } = await this.#deps.limiter.charge({ kind: 'address', address, limits: ATTEMPTS });
    if (kind === 'admitted') return errorResponse('unauthorized', message);
    const wait = retryAfter(quota[quota.governing].resetsAt - quota.at);
    return errorResponse('rate_limit_exceeded', tooManyAttempts(wait.seconds), wait.header);
  }

  #actor({ name }: Operator, request: IncomingMessage): Actor {
    return { kind: 'operator', name, address: this.#deps.addressOf(request) };
  }
}

/** Empty when it has blanks. Undefined for another scheme, because a proxy in front may ask browsers for a password. */
function bearerToken({ headers: { authorization = '' } }: IncomingMessage): string | undefined {
  if (!/^bearer(?: |$)/i.test(authorization)) return undefined;
  return readBearer(authorization) ?? '';
}

/** OPTIONS only names the methods of a path. */
function isRead({ method = '' }: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method);
}
