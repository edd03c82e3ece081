// Contract: section 10.1.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Author } from '../domain/audit.ts';
import { type Operator, SESSION_LIFETIME, type SecretHash } from '../domain/operator.ts';
import type { ClientAddress } from '../http/address.ts';
import { errorReply } from '../http/errors.ts';
import type { Reply } from '../http/reply.ts';
import { retryAfter } from '../http/rate-headers.ts';
import { fields } from '../http/wire/text.ts';
import type { Caller, QuotaCounter } from '../limits/counter.ts';
import type { Store } from '../storage/store.ts';

/** Failed sign-ins and tokens that one client address may send. */
const ATTEMPTS = { perMinute: 20, perDay: 1_000 };

const NO_SESSION = 'There is no session, or it has ended: sign in with a new link (petstore console).';
const OTHER_TOKEN = 'The token is unknown, has expired or was removed.';
const LINK_ENDED = 'The link was used, or its 10 minutes are over: get a new one (petstore console).';
const FOREIGN = 'A change must come from the console itself: the Origin header names another site, or none.';

export type Entered = { readonly operator: Operator; readonly author: Author } | { readonly refusal: Reply };

interface AccessDependencies {
  readonly operators: Store['operators'];
  readonly counter: Pick<QuotaCounter, 'charge'>;
  readonly addressOf: ClientAddress;
  /** The address of the console as browsers name it, without a path; undefined: the host that the request names. */
  readonly url: string | undefined;
  /** A new secret of at least 256 bits. */
  readonly newSecret: () => string;
}

/** Who may enter: sessions in a cookie, tokens of programs, and links that sign in. */
export class Access {
  readonly #deps: AccessDependencies;
  readonly #cookie: string;
  readonly #attributes: string;

  constructor(deps: AccessDependencies) {
    this.#deps = deps;
    const isSecure = deps.url?.startsWith('https:') ?? false;
    this.#cookie = isSecure ? '__Host-petstore_console' : 'petstore_console';
    this.#attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** The operator of a request to the admin API. */
  async enter(request: IncomingMessage): Promise<Entered> {
    const { operators } = this.#deps;
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      const token = /^bearer +([^ ]+) *$/i.exec(authorization)?.[1] ?? '';
      const operator = await operators.authenticate('token', secretHash(token));
      return operator === undefined
        ? this.#refuse(request, OTHER_TOKEN)
        : { operator, author: this.#author(operator, request) };
    }
    const secret = this.#session(request);
    if (secret === undefined) return { refusal: errorReply('unauthorized', NO_SESSION) };
    const operator = await operators.authenticate('session', secretHash(secret));
    if (operator === undefined) return this.#refuse(request, NO_SESSION);
    if (!isRead(request) && !this.#isOwn(request))
      return { refusal: errorReply('insufficient_scope', FOREIGN) };
    return { operator, author: this.#author(operator, request) };
  }

  /** Exchanges the secret of a link for a session. */
  async signIn(request: IncomingMessage, link: string): Promise<Reply> {
    if (!this.#isOwn(request)) return errorReply('insufficient_scope', FOREIGN);
    const session = this.#deps.newSecret();
    const operator = await this.#deps.operators.signIn(
      secretHash(link),
      secretHash(session),
      SESSION_LIFETIME,
    );
    if (operator === undefined) return (await this.#refuse(request, LINK_ENDED)).refusal;
    return this.#withCookie(session, SESSION_LIFETIME / 1_000);
  }

  /** Ends the session of the request, if there is one. */
  async signOut(request: IncomingMessage): Promise<Reply> {
    if (!this.#isOwn(request)) return errorReply('insufficient_scope', FOREIGN);
    const session = this.#session(request);
    if (session !== undefined) await this.#deps.operators.signOut(secretHash(session));
    return this.#withCookie('', 0);
  }

  #withCookie(value: string, seconds: number): Reply {
    const cookie = `${this.#cookie}=${value}; Max-Age=${seconds}; ${this.#attributes}`;
    return { status: 204, headers: fields('Set-Cookie', cookie) };
  }

  #session({ headers }: IncomingMessage): string | undefined {
    const prefix = `${this.#cookie}=`;
    return headers.cookie
      ?.split(/; */)
      .find((pair) => pair.startsWith(prefix))
      ?.slice(prefix.length);
  }

  /** Whether a page of the console sent the request. */
  #isOwn({ headers }: IncomingMessage): boolean {
    return headers.origin === (this.#deps.url ?? `http://${headers.host ?? ''}`);
  }

  /** A failed attempt counts for its address. */
  async #refuse(request: IncomingMessage, message: string): Promise<{ readonly refusal: Reply }> {
    const caller: Caller = {
      kind: 'address',
      address: `console ${this.#address(request)}`,
      limits: ATTEMPTS,
    };
    const verdict = await this.#deps.counter.charge(caller);
    if (verdict.kind === 'admitted') return { refusal: errorReply('unauthorized', message) };
    const { quota } = verdict;
    const wait = retryAfter(quota[quota.governing].resetsAt - quota.at);
    const busy = `Too many failed attempts from this address: wait ${wait.seconds} s.`;
    return { refusal: errorReply('rate_limit_exceeded', busy, wait.header) };
  }

  #author({ name }: Operator, request: IncomingMessage): Author {
    return { actor: { kind: 'operator', name }, address: this.#address(request) };
  }

  #address({ socket, headers }: IncomingMessage): string {
    const forwarded = headers['x-forwarded-for'];
    return this.#deps.addressOf(
      socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join() : forwarded,
    );
  }
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function secretHash(secret: string): SecretHash {
  return hash('sha256', secret, 'hex');
}
