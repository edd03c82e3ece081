// Contract: section 10.1.
import { isIP } from 'node:net';

/**
 * The origin of the console's own pages: `url` (CONSOLE_URL), or the port of the listener on the host that the request names if
 * it is an IP address or localhost. Undefined for another name, because the owner of a name can point it here (DNS rebinding).
 * The request does not choose the port, because another program of the same machine could relay a sign-in under its own.
 */
export function ownOrigin(
  url: string | undefined,
  host: string | undefined,
  port: number | undefined,
): string | undefined {
  if (url !== undefined) return url;
  const named = URL.parse(`http://${host ?? ''}`);
  if (named === null) return undefined;
  const name = named.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(name) === 0 && name !== 'localhost') return undefined;
  return new URL(`http://${named.hostname}:${port ?? 80}`).origin;
}
