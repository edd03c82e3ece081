import { type Fields, namesAndValues } from './fields.ts';
import { type IncomingMessage, ServerResponse } from './node-http.ts';
import type { Octets } from './octets.ts';

/** Where the answer to one request goes. */
export interface Response {
  /**
   * Sends the whole response. To HEAD and with a status that has no body, `body` only gives its length. What is left of
   * the request's own body is for the caller to read, or to drop.
   */
  send(status: number, text: Fields, body: Octets | Buffer | undefined): void;
  readonly headersSent: boolean;
  /** Whether nobody is left to answer. */
  readonly destroyed: boolean;
  /** Whether the answer to another request comes behind it. */
  readonly isFollowed: boolean;
  /** Set to false before it is sent, it says that the connection ends with it. */
  shouldKeepAlive: boolean;
  /** Ends the connection without an answer. */
  destroy(): void;
}

/** Node's own response, for whatever a `DirectResponse` is not for. */
export class NodeResponse<R extends IncomingMessage = IncomingMessage>
  extends ServerResponse<R>
  implements Response
{
  isFollowed = false;

  send(status: number, text: Fields, body: Octets | Buffer | undefined): void {
    const length = body === undefined ? [] : ['Content-Length', `${body.length}`];
    this.writeHead(status, [...namesAndValues(text), ...length]);
    this.end(this.req.method === 'HEAD' ? undefined : body, 'latin1');
  }
}
