// Contract: section 10.1.
import { isIP } from 'node:net';

/**
 * The origin of the console's own pages: `url` (CONSOLE_URL), or the host that the request names if it is an IP address or
 * localhost. Undefined for another name, because the owner of a name can point it here (DNS rebinding).
 */
export function ownOrigin(url: string | undefined, host: string | undefined): string | undefined {
  if (url !== undefined) return url;
  const named = URL.parse(`http://${host ?? ''}`);
  if (named === null) return undefined;
  const name = named.hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || name === 'localhost' ? named.origin : undefined;
}
