import type { Socket } from 'node:net';
import type { IncomingMessage } from './node-http.ts';
import type { NodeResponse } from './response.ts';

/*
 * Properties that Node keeps on an HTTP connection. They are old, but Node does not document them. The version of
 * Node is pinned, and the tests fail when one of these names changes.
 */

export interface NodeSocket extends Socket {
  /** The response that is being sent; others wait behind it. */
  readonly _httpMessage?: NodeResponse | null;
  /** Whether Node must not read on. It then ignores that somebody resumes the socket. */
  readonly _paused: boolean;
  readonly _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  readonly parser: Parser | null;
}

export interface Parser {
  readonly constructor: { readonly kOnExecute: number };
  /** The request that is being read. */
  incoming: IncomingMessage | null;
  /**
   * Called with each request once its header block is read: makes a response, and tells the server of both. The parser
   * stops after the header block when it returns `PAUSED`.
   */
  onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  /** At `kOnExecute`: called with what `execute` gave, for bytes that the parser took from the socket by itself. */
  [name: number]: (result: Executed) => void;
  /** The bytes that are being parsed, copied. */
  getCurrentBuffer(): Buffer;
  execute(bytes: Buffer): Executed;
  /** Lets a parser that was paused go on. */
  resume(): void;
}

/** How many bytes were parsed, or why the parser stopped before the end. */
export type Executed = number | (Error & { readonly bytesParsed: number });

/** The value that `onIncoming` returns to stop the parser: HPE_PAUSED of llhttp. */
export const PAUSED = 21;

/** Whether a response that Node made has the connection, so that others wait behind it. */
export function hasNodeResponse({ _httpMessage }: NodeSocket): boolean {
  return _httpMessage !== null && _httpMessage !== undefined;
}

export function mayRead({ _paused }: NodeSocket): boolean {
  return !_paused;
}

export function allowReading(socket: NodeSocket, allowed: boolean): void {
  Object.assign(socket, { _paused: !allowed });
}

/** Bytes that the kernel has taken from the connection's answers so far. */
export function bytesTaken({ _handle }: NodeSocket): number {
  return _handle === null ? 0 : _handle.bytesWritten - _handle.writeQueueSize;
}
