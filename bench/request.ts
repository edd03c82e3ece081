import { request as send } from 'node:http';
import { text } from 'node:stream/consumers';

/** The load generator replaces this character in a path with a number. */
export const NUMBER = '\u0002';

export interface BenchRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
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
  const length = method === 'POST' ? { 'Content-Length': `${Buffer.byteLength(body)}` } : {};
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

/** Removes the headers with these lower-case names from a list of alternating names and values. */
export function without(headers: readonly string[], names: readonly string[]): string[] {
  const isRemoved = (index: number) => names.includes(headers[index - (index % 2)]?.toLowerCase() ?? '');
  return headers.filter((_, index) => !isRemoved(index));
}
