import { lookup } from 'node:dns/promises';
import type * as http from 'node:http';
import { isIP } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { reasonOf } from '../domain/startup-error.ts';

/** What is sent. The path begins behind the origin. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** On a connection of its own; with a text, at this address of the host. */
  readonly fresh?: true | string | undefined;
  /** Ends it without an answer. */
  readonly signal?: AbortSignal | undefined;
}

/** What came back. Instants are in milliseconds of the clock that never runs backwards. */
export interface Received {
  readonly status: number;
  /** In lower case. A header that comes several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** There was no answer. The message says why. */
export class NoAnswer extends Error {}

/** Milliseconds for one request, from the look-up of the name to the last byte: more than the longest `wait` of the feed. */
const REQUEST_TIME = 45_000;

/** Bytes of a body at most. A page of 100 animals has less. */
const BODY_BYTES = 8 * 1024 * 1024;

/** Addresses of a host at most. */
const MOST_ADDRESSES = 4;

/** Sends requests to one origin. Follows no redirect, so the key goes nowhere else. */
export class Transport {
  readonly #origin: URL;
  readonly #clock: Clock;
  readonly #module: Pick<typeof http, 'request' | 'Agent'>;
  #agent: http.Agent;

  constructor(origin: URL, clock: Clock) {
    this.#origin = origin;
    this.#clock = clock;
    // Without an import, as in packages/direct-http/src/node.ts.
    this.#module = process.getBuiltinModule(origin.protocol === 'https:' ? 'node:https' : 'node:http');
    this.#agent = this.#newAgent();
  }

  /** @throws NoAnswer when there is none in time, or one that is too large. */
  async send(sent: Sent): Promise<Received> {
    try {
      return await this.#exchange(sent);
    } catch (error) {
      throw error instanceof NoAnswer ? error : new NoAnswer(describeFault(error));
    }
  }

  /** Node.js throws at once for a path or a header that cannot be sent. */
  async #exchange({ method, path, headers, body, fresh, signal }: Sent): Promise<Received> {
    const { hostname, port } = this.#origin;
    const host = hostname.replace(/^\[|\]$/g, '');
    const sentAt = this.#clock().monotonic;
    const timeout = AbortSignal.timeout(REQUEST_TIME);
    const { promise, resolve, reject } = Promise.withResolvers<Omit<Received, 'sentAt'>>();
    const request = this.#module.request({
      // The name stays, for certificate and `Host`.
      host,
      ...(port !== '' && { port }),
      ...(typeof fresh === 'string' && { lookup: lookupFixed(fresh) }),
      path,
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Length': body.length }) },
      agent: fresh === undefined ? this.#agent : false,
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const pieces: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        size += piece.length;
        if (size > BODY_BYTES) request.destroy(new NoAnswer(`The answer has more than ${BODY_BYTES} bytes.`));
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(
            Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(', ')]),
          ),
          body: Buffer.concat(pieces),
          receivedAt: this.#clock().monotonic,
        }),
      );
    });
    request.end(body);
    return { ...(await promise), sentAt };
  }

  /** The addresses of the host, the first few of them; none if it is an address, or is not found any more. */
  async addresses(): Promise<readonly string[]> {
    const host = this.#origin.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) return [];
    const found = await lookup(host, { all: true }).catch(() => []);
    return [...new Set(found.map(({ address }) => address))].slice(0, MOST_ADDRESSES);
  }

  /** Closes the connections, for example before a pause in which the other side may close them. */
  close(): void {
    this.#agent.destroy();
    this.#agent = this.#newAgent();
  }

  #newAgent(): http.Agent {
    return new this.#module.Agent({ keepAlive: true, maxSockets: 1 });
  }
}

function lookupFixed(address: string): http.RequestOptions['lookup'] {
  return (_host, options, done) => {
    const family = isIP(address);
    if (options.all === true) done(null, [{ address, family }]);
    else done(null, address, family);
  };
}

function describeFault(error: unknown): string {
  // Node.js gives an AbortError whose cause is the reason of the signal.
  if (error instanceof Error && error.cause instanceof Error && error.cause.name === 'TimeoutError')
    return `There was no whole answer within ${REQUEST_TIME / 1_000} seconds.`;
  // The message of OpenSSL has the lines of its source in it.
  if (error instanceof Error && 'code' in error && error.code === 'EPROTO')
    return 'There was no answer: the TLS handshake failed, for example because the server speaks http.';
  return `There was no answer: ${reasonOf(error)}.`;
}
