import type { ErrorCode } from '../../domain/errors.ts';
import { type IncomingMessage, ServerResponse } from './node.ts';
import { type Fields, namesAndValues, type Octets } from './text.ts';

/** An HTTP response before it is written. */
export interface Reply {
  readonly status: number;
  readonly headers: Fields;
  readonly body?: Octets | Buffer;
  /** The error code of an error response, for the log. */
  readonly code?: ErrorCode;
}

/** The answer to one request. */
export interface Response {
  /**
   * Sends the whole response. For HEAD, and for a status without a body, `body` only gives the length. The caller reads
   * or drops the rest of the request's own body.
   */
  send(status: number, fields: Fields, body: Octets | Buffer | undefined): void;
  readonly headersSent: boolean;
  /** Whether the client is gone. */
  readonly destroyed: boolean;
  /** Whether another request of the connection waits to be handled. */
  readonly isFollowed: boolean;
  /** Set to false before `send` to close the connection after this response. */
  shouldKeepAlive: boolean;
  /** Closes the connection without an answer. */
  destroy(): void;
}

/** What the service does with requests. */
export interface Handlers {
  /** Answers the request, with `refusal` if the HTTP layer refuses it. */
  readonly handle: (request: IncomingMessage, response: Response, refusal?: Reply) => unknown;
  /** Answers a request whose body will not arrive. Returns false if it is answered already. */
  readonly interrupt: (request: IncomingMessage, refusal: Reply) => boolean;
}

/** The response of Node. It can answer every request. */
export class NodeResponse<R extends IncomingMessage = IncomingMessage>
  extends ServerResponse<R>
  implements Response
{
  connectionState: { readonly isFollowed: boolean } | undefined;

  get isFollowed(): boolean {
    return this.connectionState?.isFollowed ?? false;
  }

  send(status: number, fields: Fields, body: Octets | Buffer | undefined): void {
    const length = body === undefined ? [] : ['Content-Length', `${body.length}`];
    this.writeHead(status, [...namesAndValues(fields), ...length]);
    this.end(this.req.method === 'HEAD' ? undefined : body, 'latin1');
  }
}
