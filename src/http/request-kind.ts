import type { IncomingMessage } from './node-http.ts';

/** Whether nothing but a plain response to HTTP/1.1 is asked for. */
export function isUsual({
  httpVersion,
  method,
  headers,
  upgrade,
}: IncomingMessage & { upgrade?: boolean }): boolean {
  return httpVersion === '1.1' && method !== 'HEAD' && headers.expect === undefined && upgrade !== true;
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Whether a request is read to its end, or there is none. */
export function isRead(request: IncomingMessage | null): request is null {
  return request === null || request.complete;
}
