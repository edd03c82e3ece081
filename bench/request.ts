import { request as send } from 'node:http';
import { text } from 'node:stream/consumers';

/** The load generator replaces this character with a number. */
export const NUMBER = '\u0002';

/** The load generator replaces this character with the number that ends the `Location` of the answer before. */
export const CREATED = '\u0003';

/** Octets of a number in a body, with spaces before it. */
const NUMBER_WIDTH = 9;

export interface BenchRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PATCH';
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** Alternating names and values, without `Date`. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Formats the request as it is sent to the server at `host`. */
export function wireText({ method, path, headers, body = '' }: BenchRequest, host: string): string {
  const octets = Buffer.byteLength(body.replace(NUMBER, ' '.repeat(NUMBER_WIDTH)));
  const length = method.startsWith('P') ? { 'Content-Length': `${octets}` } : {};
  const fields = Object.entries({ Host: host, ...headers, ...length });
  return `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** Sends one request to the server at `url`. Rejects if the answer has no `Date`, because leaving it out saves work. */
export async function answerOf(url: string, { method, path, headers, body }: BenchRequest): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = send(new URL(path, url), { method, headers }, (response) => {
    const { rawHeaders, statusCode = 0 } = response;
    if (response.headers.date === undefined) reject(new Error(`${url} answers without a Date.`));
    text(response).then(
      (received) => resolve({ status: statusCode, headers: without(rawHeaders, ['date']), body: received }),
      reject,
    );
  });
  request.on('error', reject);
  request.end(body);
  return promise;
}

/** The bare server has one answer for each kind of request. */
export function kindOf(method: string, path: string): string {
  return path.endsWith('/complete') ? 'complete' : method;
}

/** Removes the headers with these lower-case names from a list of alternating names and values. */
export function without(headers: readonly string[], names: readonly string[]): string[] {
  const isRemoved = (index: number) => names.includes(headers[index - (index % 2)]?.toLowerCase() ?? '');
  return headers.filter((_, index) => !isRemoved(index));
}
