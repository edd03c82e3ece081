import type { IncomingMessage } from 'node:http';
import { errorReply } from './errors.ts';
import type { Reply } from './reply.ts';

/** A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port; may be empty (RFC 9110, section 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Checks the `Host` header: HTTP/1.1 requires one valid `Host`, and no more (RFC 9112, section 3.2). */
export class HostCheck {
  /** Nearly all requests name the same host. */
  #lastValid = '';

  fault({ httpVersion, rawHeaders }: IncomingMessage): Reply | undefined {
    let hosts = 0;
    let host = '';
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i];
      if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
      hosts++;
      host = rawHeaders[i + 1] ?? '';
    }
    if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
      return errorReply('invalid_request', 'The request must have one Host header.');
    }
    if (host === this.#lastValid) return undefined;
    if (!HOST.test(host))
      return errorReply('invalid_request', 'The Host header must be a host name with an optional port.');
    this.#lastValid = host;
    return undefined;
  }
}
