import { request as send } from 'node:http';
import { text } from 'node:stream/consumers';

/** Stands in a path for numbers that the load generator puts in. */
export const NUMBER = '\u0002';

/** A request of a scenario. */
export interface BenchRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  /** Names and values in turn, without `Date`. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** The same request with `number` where `NUMBER` stands. */
export function withNumber<T extends BenchRequest>(request: T, number: number): T {
  return { ...request, path: request.path.replace(NUMBER, `${number}`) };
}

/** The request as it goes over the wire; `host` is for the `Host` header. */
export function wireText({ method, path, headers, body = '' }: BenchRequest, host: string): string {
  const length = method === 'POST' ? { 'Content-Length': `${Buffer.byteLength(body)}` } : {};
  const fields = Object.entries({ Host: host, ...headers, ...length });
  return `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** Sends one request to the server at `url`. Rejects when the answer has no `Date`: that would spare work. */
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

/** A list of header names and values in turn, without the headers of these (lower-case) names. */
export function without(headers: readonly string[], names: readonly string[]): string[] {
  const isDropped = (index: number) => names.includes(headers[index - (index % 2)]?.toLowerCase() ?? '');
  return headers.filter((_, index) => !isDropped(index));
}
