// Contract: section 10.1.
import type { IncomingMessage } from 'node:http';
import { type Environment, TOKEN_PREFIX } from '../../domain/api-key.ts';
import type { Actor } from '../../domain/audit.ts';
import type { Operator } from '../../domain/operator.ts';
import type { Result } from '../../domain/result.ts';
import type { RateLimiter } from '../../limits/limiter.ts';
import type { ClientAddress } from '../address.ts';
import { retryAfter } from '../rate-limit.ts';
import { errorResponse, JSON_CONTENT } from '../response.ts';
import { octets } from 'direct-http';
import type { SignedChallenge } from './signed-challenge.ts';
import type { Response } from '../context.ts';
import { ownOrigin } from './own-origin.ts';
import { readBearer } from './api-key.ts';
import { SessionCookie } from './session-cookie.ts';

/** Failed sign-ins, sessions and tokens that one client address may send, and challenges that it may get. */
const ATTEMPTS = { perMinute: 20, perDay: 1_000 };

export const NO_SESSION = 'There is no session, or it has ended: sign in with a new link (petstore console).';
const OTHER_TOKEN =
  'The token is unknown, has expired or was revoked: create a new one (petstore operators token).';
const LINK_ENDED = 'The link was used, or its 10 minutes are over: get a new one (petstore console).';
const PASSKEY_REFUSED =
  'This passkey did not sign you in: the console does not know it, or you took longer than 5 minutes. Try again, or use a link (petstore console).';
const FOREIGN = 'A change must come from a page of the console: send its address as Origin, or use a token.';
const otherPort = (own: string) =>
  `The console has another port: open it at ${own}, or set CONSOLE_URL to the address that you use.`;
export const tooManyAttempts = (seconds: string) =>
  `Too many failed attempts from this address: wait ${seconds} s.`;
const tooManyChallenges = (seconds: string) => `Too many sign-ins from this address: wait ${seconds} s.`;
const OTHER_HOST = 'The console has no such host name: set CONSOLE_URL to the address that you use.';

/** The secrets of operators. They reject as the store does. */
interface OperatorSecrets {
  /** The operator of a session or a token that is in force. */
  authenticate(kind: 'session' | 'token', text: string): Promise<Operator | undefined>;
  /** Uses up the link with this text, begins a session, and ends the session `earlier`. */
  signIn(link: string, address: string, earlier: string | undefined): Promise<SignedIn>;
  /** Ends a session at once, on every instance. */
  signOut(session: string): Promise<void>;
}

type SignedIn = Result<{ readonly session: { reveal(): string } }, 'unauthorized'>;

/** Passkeys of operators, whose `SignedChallenge` is what a browser sends. They reject as the store does. */
interface PasskeySignIn {
  /** What a browser needs to sign in with a passkey. `invalid_request`: this origin can have none. */
  beginSignIn(origin: string): Promise<Result<object, 'invalid_request'>>;
  /** Checks a signature, begins a session, and ends the session `earlier`. */
  signIn(
    answer: SignedChallenge,
    origin: string,
    address: string,
    earlier: string | undefined,
  ): Promise<SignedIn>;
}

export interface AccessDependencies {
  readonly secrets: OperatorSecrets;
  readonly passkeys: PasskeySignIn;
  readonly limiter: Pick<RateLimiter, 'charge'>;
  readonly addressOf: ClientAddress;
  /** CONSOLE_URL: the origin of the console as browsers name it. */
  readonly url: string | undefined;
  readonly environment: Environment;
}

export type Entry =
  | {
      readonly operator: Operator;
      readonly actor: Actor;
      /** The origin of the console for the browser of a session. Undefined for a token. */
      readonly origin: string | undefined;
    }
  | { readonly refusal: Response };

/** Checks sessions in a cookie, tokens of programs, and links and passkeys that sign in. */
export class Access {
  readonly #deps: AccessDependencies;
  readonly #cookie: SessionCookie;

  constructor(deps: AccessDependencies) {
    this.#deps = deps;
    const isSecure = deps.url?.startsWith('https:') ?? false;
    this.#cookie = new SessionCookie({ isSecure, environment: deps.environment });
  }

  /** The refusal of a request to a host name that is not the console's. */
  refuseHost(request: IncomingMessage): Response | undefined {
    return this.#origin(request) === undefined ? errorResponse('invalid_request', OTHER_HOST) : undefined;
  }

  /** The operator of a request to the admin API. */
  async enter(request: IncomingMessage): Promise<Entry> {
    const { secrets } = this.#deps;
    const token = readBearer(request.headers.authorization ?? '');
    const session = this.#cookie.read(request.headers);
    // A bearer token without our prefix, or another scheme, comes from a proxy in front, such as single sign-on. It is not a
    // failed attempt.
    if (token?.startsWith(TOKEN_PREFIX) === true) {
      const operator = await secrets.authenticate('token', token);
      if (operator === undefined) return { refusal: await this.#refuse(request, OTHER_TOKEN) };
      return { operator, actor: this.#actor(operator, request), origin: undefined };
    }
    if (session === undefined) return { refusal: errorResponse('unauthorized', NO_SESSION) };
    const operator = await secrets.authenticate('session', session);
    if (operator === undefined) return { refusal: await this.#refuse(request, NO_SESSION) };
    // A browser also adds the cookie to requests of other sites. A program adds its token on purpose.
    if (!isRead(request) && this.#pageOrigin(request) === undefined)
      return { refusal: this.#refuseForeign(request) };
    return { operator, actor: this.#actor(operator, request), origin: this.#origin(request) };
  }

  /** Exchanges the secret of a link for a new session. It ends the session that the browser sends. */
  signIn(request: IncomingMessage, link: string): Promise<Response> {
    return this.#enterWith(request, LINK_ENDED, (_origin, address, earlier) =>
      this.#deps.secrets.signIn(link, address, earlier),
    );
  }

  /** The same for what a passkey has signed. */
  signInWithPasskey(request: IncomingMessage, answer: SignedChallenge): Promise<Response> {
    return this.#enterWith(request, PASSKEY_REFUSED, (...browser) =>
      this.#deps.passkeys.signIn(answer, ...browser),
    );
  }

  /** What a browser needs to sign in with a passkey. */
  async beginSignIn(request: IncomingMessage): Promise<Response> {
    const origin = this.#pageOrigin(request);
    if (origin === undefined) return this.#refuseForeign(request);
    // Each challenge is a row in the database, so they have a limit, too.
    const refusal = await this.#charge(
      `console challenge ${this.#deps.addressOf(request)}`,
      tooManyChallenges,
    );
    if (refusal !== undefined) return refusal;
    const begun = await this.#deps.passkeys.beginSignIn(origin);
    if ('error' in begun) return errorResponse(begun.error, begun.message);
    return { status: 200, headers: JSON_CONTENT, body: octets(JSON.stringify(begun.value)) };
  }

  async #enterWith(
    request: IncomingMessage,
    message: string,
    signIn: (origin: string, address: string, earlier: string | undefined) => Promise<SignedIn>,
  ): Promise<Response> {
    const origin = this.#pageOrigin(request);
    if (origin === undefined) return this.#refuseForeign(request);
    const address = this.#deps.addressOf(request);
    const signedIn = await signIn(origin, address, this.#cookie.read(request.headers));
    if ('error' in signedIn) return this.#refuse(request, message);
    return { status: 204, headers: this.#cookie.set(signedIn.value.session.reveal()) };
  }

  /** Ends the session of the request, if there is one. */
  async signOut(request: IncomingMessage): Promise<Response> {
    if (this.#pageOrigin(request) === undefined) return this.#refuseForeign(request);
    const session = this.#cookie.read(request.headers);
    if (session !== undefined) await this.#deps.secrets.signOut(session);
    return { status: 204, headers: this.#cookie.clear() };
  }

  #origin({ headers, socket }: IncomingMessage): string | undefined {
    return ownOrigin(this.#deps.url, headers.host, socket.localPort);
  }

  /** The origin of the console if one of its pages sent the request. */
  #pageOrigin(request: IncomingMessage): string | undefined {
    const { origin } = request.headers;
    return origin === this.#origin(request) ? origin : undefined;
  }

  /** The answer to a change that comes from no page of the console. */
  #refuseForeign(request: IncomingMessage): Response {
    const { host, origin } = request.headers;
    const own = this.#origin(request);
    // A tunnel or a container may give the listener another port.
    const isOtherPort = this.#deps.url === undefined && own !== undefined && origin === `http://${host}`;
    return errorResponse('insufficient_scope', isOtherPort ? otherPort(own) : FOREIGN);
  }

  /** The answer to a failed attempt, which counts for its address. */
  async #refuse(request: IncomingMessage, message: string): Promise<Response> {
    const refusal = await this.#charge(`console ${this.#deps.addressOf(request)}`, tooManyAttempts);
    return refusal ?? errorResponse('unauthorized', message);
  }

  /** Counts for an address. The refusal if that is too often. */
  async #charge(address: string, message: (seconds: string) => string): Promise<Response | undefined> {
    const { kind, quota } = await this.#deps.limiter.charge({ kind: 'address', address, limits: ATTEMPTS });
    if (kind === 'admitted') return undefined;
    const wait = retryAfter(quota[quota.governing].resetsAt - quota.at);
    return errorResponse('rate_limit_exceeded', message(wait.seconds), wait.header);
  }

  #actor({ name }: Operator, request: IncomingMessage): Actor {
    return { kind: 'operator', name, address: this.#deps.addressOf(request) };
  }
}

/** OPTIONS only names the methods of a path. */
function isRead({ method = '' }: IncomingMessage): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method);
}
