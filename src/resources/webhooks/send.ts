// Contract: section 13. Whom we may send to: docs/design/webhooks.md.
import type { LookupFunction } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, errors } from 'undici';
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../domain/clock.ts';
import { SECOND } from '../../domain/clock.ts';
import { type Address, type Lookup, resolveEndpoint } from './addresses.ts';
import { checkUrl, type FailureKind, type Outcome } from './rules.ts';

/** Milliseconds of an attempt: for the name, the connection, and the status of the answer. */
const ATTEMPT_TIME = 10 * SECOND;

/** Bytes of the headers of an answer. */
const HEADERS_LENGTH = 16_384;

/** Attempts at once at one address from this instance. Others wait for their turn. */
const MOST_AT_ADDRESS = 20;

export interface SenderSettings {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly isAllowed: (address: string) => boolean;
  readonly allowPrivate: boolean;
  /** Milliseconds. */
  readonly attemptTime?: number;
  /** Certificates that are trusted besides those of the system. */
  readonly ca?: string;
}

export interface Message {
  readonly url: string;
  /** The id of the event. */
  readonly id: string;
  readonly body: string;
  /** The newest first. */
  readonly secrets: readonly string[];
}

/** The headers of a message (Standard Webhooks 1.0). */
export function signMessage(
  { id, body, secrets }: Omit<Message, 'url'>,
  unix: number,
): Record<string, string> {
  // Whole seconds, as the header has them.
  const at = new Date(Math.floor(unix / SECOND) * SECOND);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at.getTime() / SECOND),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

/**
 * Sends messages, each attempt over a connection of its own to an address that was checked for this attempt. It never rejects for
 * what the network does.
 */
export class Sender {
  readonly #settings: SenderSettings;
  /** Attempts under way by address, and those that wait. */
  readonly #busy = new Map<string, { count: number; readonly waiting: (() => void)[] }>();

  constructor(settings: SenderSettings) {
    this.#settings = settings;
  }

  async send(message: Message): Promise<Outcome> {
    const { clock, attemptTime = ATTEMPT_TIME } = this.#settings;
    const begin = clock().monotonic;
    const end = (outcome: Omit<Outcome, 'durationMs'>) =>
      ({ ...outcome, durationMs: Math.round(clock().monotonic - begin) }) as Outcome;
    const fail = (failure: FailureKind) => end({ status: 'failed', failure } as Outcome);
    const checked = checkUrl(message.url, this.#settings);
    if ('error' in checked) return fail('url_refused');
    const url = checked.value;
    const { lookup, isAllowed } = this.#settings;
    const over = new AbortController();
    const resolved = await Promise.race([
      resolveEndpoint(url, lookup, isAllowed),
      wait(attemptTime, { failure: 'timeout' } as const, { signal: over.signal }),
    ]).finally(() => over.abort());
    if ('failure' in resolved) return fail(resolved.failure);
    // One address, so that each counts what it gets. IPv4, because a machine without IPv6 resolves IPv6 too.
    const address = resolved.addresses.find(({ family }) => family === 4) ?? resolved.addresses[0];
    if (address === undefined) return fail('name_not_resolved');
    const left = Math.max(1, Math.ceil(attemptTime - (clock().monotonic - begin)));
    const leave = await this.#enter(address.address);
    try {
      const { status, retryAfter } = await this.#post(url, address, message, left);
      if (status >= 200 && status < 300) return end({ status: 'succeeded', httpStatus: status });
      const failure = status >= 300 && status < 400 ? 'redirect' : 'status';
      return end({
        status: 'failed',
        failure,
        httpStatus: status,
        ...(retryAfter !== undefined && { retryAfter }),
      } as Outcome);
    } catch (error) {
      return fail(findFailure(error));
    } finally {
      leave();
    }
  }

  async #enter(address: string): Promise<() => void> {
    let at = this.#busy.get(address);
    if (at === undefined) this.#busy.set(address, (at = { count: 0, waiting: [] }));
    const { waiting } = at;
    if (at.count >= MOST_AT_ADDRESS) await new Promise<void>((resolve) => waiting.push(resolve));
    else at.count++;
    return () => {
      const next = waiting.shift();
      // The next one takes the place of this one.
      if (next !== undefined) next();
      else if (--at.count === 0) this.#busy.delete(address);
    };
  }

  async #post(
    url: URL,
    address: Address,
    message: Message,
    attemptTime: number,
  ): Promise<{ readonly status: number; readonly retryAfter: number | undefined }> {
    const { clock, ca } = this.#settings;
    // The connection goes to what was checked, whatever the name resolves to by now.
    const lookup: LookupFunction = (_, { all }, callback) => {
      if (all) callback(null, [address]);
      else callback(null, address.address, address.family);
    };
    const client = new Client(url.origin, {
      // Not the default, which NODE_TLS_REJECT_UNAUTHORIZED changes.
      connect: { rejectUnauthorized: true, lookup, timeout: attemptTime, ...(ca !== undefined && { ca }) },
      maxHeaderSize: HEADERS_LENGTH,
      headersTimeout: attemptTime,
      pipelining: 1,
      // HTTP/2 would not keep to the limit of the headers.
      allowH2: false,
    });
    try {
      const { statusCode, headers, body } = await client.request({
        method: 'POST',
        path: url.pathname + url.search,
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'Petstore-Webhooks',
          ...signMessage(message, clock().unix),
        },
        body: message.body,
        signal: AbortSignal.timeout(attemptTime),
      });
      // Nobody reads the body: the connection ends here.
      body.on('error', () => undefined);
      const header = headers['retry-after'];
      return { status: statusCode, retryAfter: readRetryAfter(header, clock().unix) };
    } finally {
      await client.destroy();
    }
  }
}

/** Milliseconds from `unix` on. */
function readRetryAfter(header: string | string[] | undefined, unix: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - unix);
}

/** The kind of an error of a connection. */
function findFailure(error: unknown): FailureKind {
  const { name, code = '' } = error as { readonly name?: string; readonly code?: string };
  if (
    name === 'TimeoutError' ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError
  )
    return 'timeout';
  if (error instanceof errors.HeadersOverflowError || code.startsWith('HPE_')) return 'invalid_answer';
  const isTls = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_OSSL|EPROTO)/.test(code);
  return isTls ? 'tls_failed' : 'connection_failed';
}
