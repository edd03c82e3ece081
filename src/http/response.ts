import { type IncomingMessage, ServerResponse, STATUS_CODES } from './node-http.ts';
import { type Fields, namesAndValues } from './fields.ts';
import type { Octets } from './octets.ts';

/** What Node calls and has for the head of a response, as its types do not tell. */
interface Head {
  _storeHeader(firstLine: string): void;
}

/**
 * A response whose header fields are one text. Node checks and joins every field of every response anew, which costs
 * more than a whole list does; ours are checked when they are made, so the text is handed over as it is, behind the
 * status line, and Node adds what is its own: Date, Connection and Content-Length.
 */
export class FieldsResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  #fields: Fields = '';

  /** Sends the whole response. To HEAD and with a status that has no body, `body` only gives its length. */
  send(status: number, text: Fields, body: Octets | Buffer | undefined): void {
    const { method, headers, httpVersion } = this.req;
    const isUsual = method !== 'HEAD' && httpVersion === '1.1' && headers.expect === undefined;
    if (body === undefined || !isUsual) {
      const length = body === undefined ? [] : ['Content-Length', `${body.length}`];
      this.writeHead(status, [...namesAndValues(text), ...length]);
      this.end(method === 'HEAD' ? undefined : body, 'latin1');
      return;
    }
    this.statusCode = status;
    this.#fields = text;
    this.end(body, 'latin1');
  }

  /** Called by `end` once it knows how long the body is. */
  _implicitHeader(): void {
    const { statusCode } = this;
    // Node's own way to write a head, which only has to see the first line.
    const head = this as unknown as Head;
    // oxlint-disable-next-line no-underscore-dangle -- its name
    head._storeHeader(`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${this.#fields}`);
  }
}
