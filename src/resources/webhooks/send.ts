// Contract: section 13. Whom we may send to: docs/design/webhooks.md.
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import type { Clock } from '../../domain/clock.ts';
import { SECOND } from '../../domain/clock.ts';
import { type Address, type Lookup, resolveEndpoint } from './addresses.ts';
import { checkUrl, type FailureKind, type Outcome } from './rules.ts';

/** Milliseconds of an attempt: for the name, the connection, and the status of the answer. */
const ATTEMPT_TIME = 10 * SECOND;

/** Taken without an import, which reads all exports of the module and so loads undici. */
const { request: openRequest } = process.getBuiltinModule('node:http');

/** Bytes of the headers of an answer. */
const HEADERS_LENGTH = 16_384;

/** Interim answers (1xx) before the answer. */
const MOST_INTERIM = 10;

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
  readonly webhookId: number;
  readonly url: string;
  /** The id of the event. */
  readonly id: string;
  readonly body: string;
  /** The newest first. */
  readonly secrets: readonly string[];
}

/** The headers of a message (Standard Webhooks 1.0). */
export function signMessage(
  { id, body, secrets }: Omit<Message, 'webhookId' | 'url'>,
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

/** What an endpoint answered, or why there is no answer. */
type Answer =
  | { readonly status: number; readonly retryAfter?: number | undefined }
  | { readonly failure: FailureKind };

/**
 * Sends messages, each attempt over a connection of its own to an address that was checked for this attempt. It never rejects for
 * what the network does.
 */
export class Sender {
  readonly #settings: SenderSettings;
  /** Attempts under way by address, and those that wait. */
  readonly #busy = new Map<string, { count: number; readonly waiting: (() => void)[] }>();
  /** What ends the attempts whose requests have not left, by webhook. */
  readonly #unsent = new Map<number, Set<AbortController>>();

  constructor(settings: SenderSettings) {
    this.#settings = settings;
  }

  /** Undefined: it was withdrawn, so nothing was sent. */
  async send(message: Message): Promise<Outcome | undefined> {
    const { clock } = this.#settings;
    const begin = clock().monotonic;
    const { webhookId } = message;
    const withdrawal = new AbortController();
    const unsent = this.#unsent.get(webhookId) ?? new Set();
    this.#unsent.set(webhookId, unsent.add(withdrawal));
    const leave = () => {
      unsent.delete(withdrawal);
      if (unsent.size === 0 && this.#unsent.get(webhookId) === unsent) this.#unsent.delete(webhookId);
    };
    const answer = await this.#attempt(message, begin, withdrawal.signal, leave).finally(leave);
    const durationMs = Math.round(clock().monotonic - begin);
    return answer === undefined ? undefined : { ...toOutcome(answer), durationMs };
  }

  /** When it resolves, no request of this webhook leaves that was made before. Requests that have left go on. */
  async withdraw(webhookId: number): Promise<void> {
    for (const withdrawal of this.#unsent.get(webhookId) ?? []) withdrawal.abort();
    this.#unsent.delete(webhookId);
  }

  /** `leave` is called just before the request leaves. From then on `withdrawn` does not abort. */
  async #attempt(
    message: Message,
    begin: number,
    withdrawn: AbortSignal,
    leave: () => void,
  ): Promise<Answer | undefined> {
    const { clock, lookup, isAllowed, attemptTime = ATTEMPT_TIME, ca } = this.#settings;
    const checked = checkUrl(message.url, this.#settings);
    if ('error' in checked) return { failure: 'url_refused' };
    const url = checked.value;
    const resolved = await within(attemptTime, (time) =>
      Promise.race([resolveEndpoint(url, lookup, isAllowed), aborted(AbortSignal.any([time, withdrawn]))]),
    );
    if (withdrawn.aborted) return undefined;
    if (resolved === undefined) return { failure: 'timeout' };
    if ('failure' in resolved) return resolved;
    // One address, so that each counts what it gets. IPv4, because a machine without IPv6 resolves IPv6 too.
    const address = resolved.addresses.find(({ family }) => family === 4) ?? resolved.addresses[0];
    if (address === undefined) return { failure: 'name_not_resolved' };
    const left = Math.max(1, Math.ceil(attemptTime - (clock().monotonic - begin)));
    const end = await this.#enter(address.address, withdrawn);
    if (end === undefined) return undefined;
    try {
      if (withdrawn.aborted) return undefined;
      return await within(left, async (time) => {
        const connected = await connect(url, address, AbortSignal.any([time, withdrawn]), ca);
        if (withdrawn.aborted) {
          if ('socket' in connected) connected.socket.destroy();
          return undefined;
        }
        if ('failure' in connected) return connected;
        leave();
        return post(connected.socket, url, message, clock().unix, time);
      });
    } finally {
      end();
    }
  }

  /** Waits for a turn at an address. Undefined: the attempt was withdrawn before. */
  async #enter(address: string, withdrawn: AbortSignal): Promise<(() => void) | undefined> {
    let at = this.#busy.get(address);
    if (at === undefined) this.#busy.set(address, (at = { count: 0, waiting: [] }));
    const { waiting } = at;
    if (at.count < MOST_AT_ADDRESS) at.count++;
    else if (!(await waitForTurn(waiting, withdrawn))) return undefined;
    return () => {
      const next = waiting.shift();
      // The next one takes the place of this one.
      if (next !== undefined) next();
      else if (--at.count === 0) this.#busy.delete(address);
    };
  }
}

function toOutcome(answer: Answer) {
  if ('failure' in answer) return { status: 'failed', failure: answer.failure } as const;
  const { status: httpStatus, retryAfter } = answer;
  if (httpStatus >= 200 && httpStatus < 300) return { status: 'succeeded', httpStatus } as const;
  const failure = httpStatus >= 300 && httpStatus < 400 ? 'redirect' : 'status';
  return { status: 'failed', failure, httpStatus, ...(retryAfter !== undefined && { retryAfter }) } as const;
}

/** Does work that ends when its signal aborts, after some milliseconds. */
async function within<T>(milliseconds: number, work: (time: AbortSignal) => Promise<T>): Promise<T> {
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), milliseconds);
  try {
    return await work(time.signal);
  } finally {
    clearTimeout(timer);
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** Joins a queue. Resolves with false when `withdrawn` aborts before the turn has come. */
function waitForTurn(waiting: (() => void)[], withdrawn: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const take = () => {
      withdrawn.removeEventListener('abort', giveUp);
      resolve(true);
    };
    const giveUp = () => {
      waiting.splice(waiting.indexOf(take), 1);
      resolve(false);
    };
    waiting.push(take);
    withdrawn.addEventListener('abort', giveUp, { once: true });
  });
}

/** A connection to an address, with TLS for the name of the URL if its scheme says so. `timeout`: the signal aborted. */
function connect(
  url: URL,
  { address }: Address,
  signal: AbortSignal,
  ca: string | undefined,
): Promise<{ readonly socket: Socket } | { readonly failure: FailureKind }> {
  const isSecure = url.protocol === 'https:';
  const host = { host: address, port: Number(url.port || (isSecure ? 443 : 80)) };
  // A certificate holds for the name, and there is no name to send (SNI) if the URL has an address.
  const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : '';
  const socket = isSecure
    ? connectTls({
        ...host,
        servername,
        ALPNProtocols: ['http/1.1'],
        // Not the default, which NODE_TLS_REJECT_UNAUTHORIZED changes.
        rejectUnauthorized: true,
        ...(ca !== undefined && { ca }),
      })
    : connectTcp(host);
  return new Promise((resolve) => {
    let isConnected = false;
    const giveUp = () => {
      socket.destroy();
      resolve({ failure: 'timeout' });
    };
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('connect', () => (isConnected = true));
    // It stays, because a socket can fail at any time.
    socket.on('error', () => resolve({ failure: isConnected ? 'tls_failed' : 'connection_failed' }));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      signal.removeEventListener('abort', giveUp);
      resolve({ socket });
    });
  });
}

/** Sends the request over a connection, and ends the connection with the headers of the answer: nobody reads its body. */
async function post(
  socket: Socket,
  url: URL,
  message: Message,
  unix: number,
  time: AbortSignal,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const giveUp = () => resolve({ failure: 'timeout' });
  time.addEventListener('abort', giveUp, { once: true });
  const request = openRequest({
    createConnection: () => socket,
    method: 'POST',
    path: url.pathname + url.search,
    maxHeaderSize: HEADERS_LENGTH,
    headers: {
      host: url.host,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(message.body),
      'user-agent': 'Petstore-Webhooks',
      ...signMessage(message, unix),
    },
  });
  let interim = 0;
  request.on('information', () => {
    if (++interim > MOST_INTERIM) resolve({ failure: 'invalid_answer' });
  });
  // Nobody has asked for another protocol.
  request.on('upgrade', () => resolve({ failure: 'invalid_answer' }));
  request.on('response', ({ statusCode = 0, headers }) =>
    resolve(
      statusCode < 200
        ? { failure: 'invalid_answer' }
        : { status: statusCode, retryAfter: readRetryAfter(headers['retry-after'], unix) },
    ),
  );
  request.on('error', ({ code }: NodeJS.ErrnoException) =>
    resolve({ failure: code?.startsWith('HPE_') ? 'invalid_answer' : 'connection_failed' }),
  );
  request.end(message.body);
  try {
    return await promise;
  } finally {
    time.removeEventListener('abort', giveUp);
    request.destroy();
    socket.destroy();
  }
}

/** Milliseconds from `unix` on. */
function readRetryAfter(header: string | undefined, unix: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - unix);
}
