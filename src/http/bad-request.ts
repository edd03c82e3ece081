// Contract: section 4.3.
import type { IncomingMessage } from 'node:http';
import { transportResponse } from './response.ts';
import { TRANSPORT } from './messages.ts';
import type { Response } from './context.ts';

/** Why the HTTP layer refuses a request whose header block is well-formed. */
interface BadRequest {
  readonly response: Response;
  /** Whether nobody can tell where the request ends. Nothing behind it may be answered. */
  readonly closes: boolean;
}

export function findBadRequest(request: IncomingMessage): BadRequest | undefined {
  const framing = findBadFraming(request);
  if (framing !== undefined) return { response: framing, closes: true };
  const message = findBadHeader(request);
  return message === undefined ? undefined : { response: transportResponse(400, message), closes: false };
}

/** RFC 9112, sections 2.3, 6.1 and 6.3. */
function findBadFraming({ httpVersion, headers }: IncomingMessage): Response | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return transportResponse(505, TRANSPORT[505]);
  const encoding = headers['transfer-encoding'];
  if (encoding === undefined) return undefined;
  if (httpVersion === '1.0')
    return transportResponse(400, 'HTTP/1.0 has no Transfer-Encoding: send Content-Length instead.');
  return encoding.trim().toLowerCase() === 'chunked' ? undefined : transportResponse(501, TRANSPORT[501]);
}

/** A name, an IPv4 address or an IPv6 address in brackets, and perhaps a port; may be empty (RFC 9110, section 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/**
 * The message for a request without exactly one valid `Host`, which HTTP/1.1 requires (RFC 9112, section 3.2), or with more
 * than one `Authorization`, of which a proxy may believe another one than the service.
 */
function findBadHeader({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  let hosts = 0;
  let host = '';
  let authorizations = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') {
      hosts++;
      host = rawHeaders[i + 1] ?? '';
    } else if (name?.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) return 'The request must have one Host header.';
  if (!HOST.test(host)) return 'The Host header must be a host name with an optional port.';
  return authorizations > 1 ? 'The request must have only one Authorization header.' : undefined;
}
