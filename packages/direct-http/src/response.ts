import { type IncomingMessage, ServerResponse } from './node.ts';
import { type Fields, namesAndValues, type Octets } from './text.ts';

/** The answer to one request. */
export interface ResponseWriter {
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

/** What the program does with requests. Only the program looks into a `Refusal`. */
export interface Handlers<Refusal> {
  /** Answers the request, with `refusal` if it was refused before it could be handled. */
  readonly handle: (request: IncomingMessage, response: ResponseWriter, refusal?: Refusal) => unknown;
  /** Answers a request whose body will not arrive, and closes. Returns false if it is answered already. */
  readonly interrupt: (request: IncomingMessage, refusal: Refusal) => boolean;
}

/** The response of Node. It can answer every request. */
export class NodeResponse<R extends IncomingMessage = IncomingMessage>
  extends ServerResponse<R>
  implements ResponseWriter
{
  connectionState: { readonly isFollowed: boolean } | undefined;

  get isFollowed(): boolean {
    return this.connectionState?.isFollowed ?? false;
  }

  send(status: number, fields: Fields, body: Octets | Buffer | undefined): void {
    const length = body === undefined ? [] : ['Content-Length', `${body.length}`];
    const close = this.shouldKeepAlive ? [] : ['Connection', 'close'];
    this.writeHead(status, [...namesAndValues(fields), ...close, ...length]);
    this.end(this.req.method === 'HEAD' ? undefined : body, 'latin1');
  }
}
