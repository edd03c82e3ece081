// Contract: sections 4 and 6.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { ERROR_CODES, type ErrorCode, ERRORS } from '../../src/domain/errors.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; int64 beyond 2^53 is rounded, so tests of exactness read `text`. */
  readonly json: any;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly key?: string | undefined;
  readonly body?: string | Uint8Array;
}

/** One request over real HTTP, on a connection of its own. A body is sent as JSON unless a header says otherwise. */
export function call(
  base: string,
  path: string,
  { method, headers = {}, key, body }: Asked = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fields: Record<string, string> = {};
    if (key !== undefined) fields['authorization'] = `Bearer ${key}`;
    if (body !== undefined) {
      fields['content-type'] = 'application/json';
      fields['content-length'] = String(Buffer.byteLength(body));
    }
    const { hostname, port } = new URL(base);
    const sent = request(
      {
        host: hostname.replace(/^\[|\]$/g, ''),
        port,
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...fields, ...headers },
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const received = new Headers();
          for (const [name, values] of Object.entries(response.headersDistinct)) {
            for (const value of values ?? []) received.append(name, value);
          }
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: received,
            text,
            get json() {
              return JSON.parse(text);
            },
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends bytes as they are, and gives all that comes back until the other side closes. */
export function raw(base: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      chunks.length > 0 ? resolve(done()) : reject(error),
    );
    socket.on('close', () => resolve(done()));
    const done = () => Buffer.concat(chunks).toString('latin1');
  });
}

/** A raw response taken apart. */
export function parseRaw(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
  const body = rest
    .join('\r\n\r\n')
    .slice(0, Number(headers.get('content-length') ?? Number.POSITIVE_INFINITY));
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text: body,
    get json() {
      return JSON.parse(body);
    },
  };
}

/** Every API response carries the three rate headers, as integers. */
export function assertRateHeaders({ headers }: { readonly headers: Pick<Headers, 'get'> }): void {
  for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    assert.match(headers.get(name) ?? `${name} is missing`, /^\d+$/);
  }
  assert.match(headers.get('ratelimit-policy') ?? '', /^"minute";q=\d+;w=60, "day";q=\d+;w=86400$/);
  assert.match(headers.get('ratelimit') ?? '', /^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$/);
}

/** The Error body, and nothing else in it; its code under its status. */
export function assertError(answer: Answer, code: ErrorCode, status: number = ERRORS[code].status): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  const body = answer.json;
  assert.deepEqual(Object.keys(body).toSorted(), ['code', 'message', 'status']);
  assert.equal(body.code, code, answer.text);
  assert.ok(ERROR_CODES.includes(body.code));
  assert.equal(body.status, status);
  assert.ok(typeof body.message === 'string' && body.message.length > 0);
}
