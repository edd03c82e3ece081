import type * as http from 'node:http';
import type { Socket } from 'node:net';

/**
 * `node:http`, taken without an import. An import reads all exports of the module, and so loads undici, which a
 * server does not need.
 */
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
export type IncomingMessage = http.IncomingMessage;

/** Whether there is no request, or it was read to its end. */
export function isRead(request: IncomingMessage | null): request is null {
  return request === null || request.complete;
}

/**
 * Stands for a request that cannot be read, so that its refusal is answered like a request. Without `headers`, the origin
 * is `null`, as that of a browser that hides its own.
 */
export function unreadableRequest(
  socket: Socket,
  headers: http.IncomingHttpHeaders = { origin: 'null' },
): IncomingMessage {
  const request = new IncomingMessage(socket);
  request.httpVersion = '1.1';
  request.method = '';
  request.url = '*';
  request.headers = headers;
  request.complete = true;
  request.push(null);
  return request;
}

/*
 * Below: properties that Node keeps on an HTTP connection. They are many years old but not documented. The
 * tests fail when one of them changes.
 */

export interface NodeSocket extends Socket {
  /** The response that Node is sending. Others wait behind it. */
  readonly _httpMessage?: object | null;
  /** Whether Node must not read on. It then ignores calls of `resume` on the socket. */
  readonly _paused: boolean;
  readonly _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  readonly parser: Parser | null;
}

export interface Parser {
  readonly constructor: { readonly kOnExecute: number };
  /** The request that is being read. */
  incoming: IncomingMessage | null;
  /**
   * Node calls it with each request once the header block is read. It makes a response and emits `request`. When it
   * returns `PAUSED`, the parser stops after the header block.
   */
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  /** At `kOnExecute`: called with the result of `execute` for bytes that the parser took from the socket by itself. */
  [name: number]: (result: Executed) => void;
  /** A copy of the bytes that are being parsed. */
  getCurrentBuffer(): Buffer;
  execute(bytes: Buffer): Executed;
  /** Lets a paused parser go on. */
  resume(): void;
}

/** How many bytes were parsed, or why the parser stopped before the end. */
export type Executed = number | (Error & { readonly bytesParsed: number });

/** The value that `onIncoming` returns to stop the parser: HPE_PAUSED of llhttp. */
export const PAUSED = 21;

/** Whether Node is sending a response, so that others wait behind it. */
export function hasNodeResponse({ _httpMessage }: NodeSocket): boolean {
  return _httpMessage !== null && _httpMessage !== undefined;
}

export function mayRead({ _paused }: NodeSocket): boolean {
  return !_paused;
}

export function allowReading(socket: NodeSocket, allowed: boolean): void {
  Object.assign(socket, { _paused: !allowed });
}

/** Bytes of the connection's answers that the kernel has taken so far. */
export function bytesTaken({ _handle }: NodeSocket): number {
  return _handle === null ? 0 : _handle.bytesWritten - _handle.writeQueueSize;
}
