// Contract: section 13. What an answer may cost: docs/design/webhooks.md.
import { constants } from 'node:crypto';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { type Clock, SECOND } from '../../domain/clock.ts';
import { chooseAddress, type Found } from './addresses.ts';
import { messageHeaders } from './message.ts';
import { Names } from './names.ts';
import type { FailureKind } from './rules.ts';
import type { Answer, EndpointRequest, Transport, TransportSettings } from './transport.ts';

/** Taken without an import, which reads all exports of the module and so loads undici. */
const { request: openRequest } = process.getBuiltinModule('node:http');

/** Bytes before the body of an answer: its headers, its reason phrase, and its interim answers (1xx) with theirs. */
const HEAD_LENGTH = 65_536;

/** Interim answers before the answer. */
const MOST_INTERIM = 10;

/** Bytes that a connection may receive: a handshake of TLS, and what came with the head. */
const MOST_RECEIVED = 524_288;

/** Milliseconds between two looks at what connections have received. */
const CHECK_INTERVAL = SECOND / 4;

/**
 * Only what costs little, whatever the endpoint chooses: no exchange of keys but ECDHE, with no groups of finite fields, which TLS 1.3
 * has too. A new handshake on a connection is refused.
 */
const TLS = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:!aNULL',
  ].join(':'),
  ecdhCurve: 'X25519:P-256:P-384:P-521',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

interface DirectSettings extends TransportSettings {
  readonly clock: Clock;
}

/** An attempt under way. */
interface OpenAttempt {
  readonly connection: Socket;
  isOver: boolean;
  readonly end: (answer: Answer | undefined) => void;
}

/** Speaks to the network from its own thread, each time over a connection of its own. */
export class DirectTransport implements Transport {
  readonly #settings: DirectSettings;
  readonly #names: Names;
  readonly #attempts = new Set<OpenAttempt>();
  /** Those whose requests have not left, by webhook. */
  readonly #unsent = new Map<number, Set<OpenAttempt>>();
  #context: SecureContext | undefined;
  #check: NodeJS.Timeout | undefined;

  constructor(settings: DirectSettings) {
    this.#settings = settings;
    this.#names = new Names(settings);
  }

  async lookUp(hostname: string, accountId: number): Promise<Found> {
    return chooseAddress(await this.#names.find(hostname, accountId), this.#settings);
  }

  post(request: EndpointRequest): Promise<Answer | undefined> {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const url = new URL(request.url);
    const isSecure = url.protocol === 'https:';
    const connection = connectTcp({
      host: request.address.address,
      port: Number(url.port || (isSecure ? 443 : 80)),
    });
    let stage: FailureKind = 'connection_failed';
    const attempt: OpenAttempt = {
      connection,
      isOver: false,
      end: (answer) => {
        attempt.isOver = true;
        clearTimeout(timer);
        this.#leave(request.webhookId, attempt);
        this.#attempts.delete(attempt);
        connection.destroy();
        resolve(answer);
      },
    };
    const timer = setTimeout(attempt.end, request.time, { failure: 'timeout' });
    this.#add(request.webhookId, attempt);
    const fail = () => attempt.end({ failure: stage });
    const begin = (socket: Socket) => {
      // What was withdrawn meanwhile is over.
      if (attempt.isOver) return;
      stage = 'connection_failed';
      this.#leave(request.webhookId, attempt);
      send(attempt, socket, url, request, this.#settings.clock().unix);
    };
    // They stay, because a socket can fail at any time.
    connection.on('error', fail);
    connection.once('connect', () => {
      if (!isSecure) return begin(connection);
      stage = 'tls_failed';
      const socket = this.#secure(connection, url);
      socket.on('error', fail);
      socket.once('secureConnect', () => begin(socket));
    });
    return promise;
  }

  async withdraw(webhookId: number): Promise<void> {
    for (const attempt of this.#unsent.get(webhookId) ?? []) attempt.end(undefined);
  }

  async close(): Promise<void> {
    for (const attempt of this.#attempts) attempt.end(undefined);
    clearInterval(this.#check);
  }

  /** TLS over a connection, for the name of a URL. */
  #secure(socket: Socket, { hostname }: URL): TLSSocket {
    const { ca } = this.#settings;
    this.#context ??= createSecureContext({ ...TLS, ...(ca !== undefined && { ca }) });
    // A certificate holds for the name, and there is no name to send (SNI) if the URL has an address.
    const name = hostname.replace(/^\[|\]$|\.$/g, '');
    return connectTls({
      socket,
      host: name,
      servername: isIP(name) === 0 ? name : '',
      ALPNProtocols: ['http/1.1'],
      secureContext: this.#context,
      // Not the default, which NODE_TLS_REJECT_UNAUTHORIZED changes.
      rejectUnauthorized: true,
    });
  }

  #add(webhookId: number, attempt: OpenAttempt): void {
    this.#attempts.add(attempt);
    const unsent = this.#unsent.get(webhookId);
    if (unsent === undefined) this.#unsent.set(webhookId, new Set([attempt]));
    else unsent.add(attempt);
    this.#check ??= setInterval(() => this.#checkReceived(), CHECK_INTERVAL);
  }

  #leave(webhookId: number, attempt: OpenAttempt): void {
    const unsent = this.#unsent.get(webhookId);
    unsent?.delete(attempt);
    if (unsent?.size === 0) this.#unsent.delete(webhookId);
  }

  /** Ends what sends and sends and never answers. Nobody is told of messages of TLS. */
  #checkReceived(): void {
    for (const attempt of this.#attempts)
      if (attempt.connection.bytesRead > MOST_RECEIVED) attempt.end({ failure: 'invalid_answer' });
    if (this.#attempts.size > 0) return;
    clearInterval(this.#check);
    this.#check = undefined;
  }
}

/** Sends the request. The attempt ends with the headers of the answer: nobody reads its body. */
function send({ end }: OpenAttempt, socket: Socket, url: URL, message: EndpointRequest, unix: number): void {
  const request = openRequest({
    createConnection: () => socket,
    method: 'POST',
    path: url.pathname + url.search,
    maxHeaderSize: HEAD_LENGTH,
    headers: {
      host: url.host,
      'content-length': Buffer.byteLength(message.body),
      ...messageHeaders(message, message.at),
    },
  });
  let interim = 0;
  let length = 0;
  /** Whether the answer may go on after this head. */
  const isShort = (rawHeaders: readonly string[], reason = '') => {
    length += reason.length;
    for (const text of rawHeaders) length += text.length + 2;
    return length <= HEAD_LENGTH;
  };
  const refuse = () => end({ failure: 'invalid_answer' });
  request.on('information', ({ rawHeaders, statusMessage }) => {
    if (!isShort(rawHeaders, statusMessage) || ++interim > MOST_INTERIM) refuse();
  });
  // Nobody has asked for another protocol.
  request.on('upgrade', refuse);
  request.on('response', ({ statusCode = 0, statusMessage, headers, rawHeaders }) => {
    if (statusCode < 200 || !isShort(rawHeaders, statusMessage)) refuse();
    else end({ status: statusCode, retryAfter: readRetryAfter(headers['retry-after'], unix) });
  });
  request.on('error', ({ code }: NodeJS.ErrnoException) =>
    end({ failure: code?.startsWith('HPE_') ? 'invalid_answer' : 'connection_failed' }),
  );
  request.end(message.body);
}

/** Milliseconds from `unix` on. */
function readRetryAfter(header: string | undefined, unix: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - unix);
}
