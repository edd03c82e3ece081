// Contract: section 6.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';
import type { Networks } from '../config/config.ts';
import { copyText } from '../domain/text.ts';

/** Finds the client's address from the connection's address and `X-Forwarded-For`. */
export type ClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/**
 * Trusts only the entries of `X-Forwarded-For` that proxies in `trusted` (TRUST_PROXY) wrote: the client is the last
 * address that is not such a proxy. Returns an IPv4 address, or an IPv6 network of 64 bits.
 */
export function clientAddress(trusted: Networks): ClientAddress {
  const isProxy = proxyCheck(trusted);
  // A flood comes from one address, and to read an IPv6 address costs a part of its refusal.
  let last = { remote: '', forwardedFor: '', address: '' };
  return ({ socket, headers }) => {
    const remote = socket.remoteAddress ?? '';
    const forwardedFor = String(headers['x-forwarded-for'] ?? '');
    if (remote === last.remote && forwardedFor === last.forwardedFor) return last.address;
    let client = addressIn(remote) ?? remote;
    // From the last hop to the first. The first hop is the client even if it is a proxy.
    for (let end = forwardedFor.length; end > 0 && trusted.length > 0 && isProxy(client); ) {
      const comma = forwardedFor.lastIndexOf(',', end - 1);
      const hop = addressIn(forwardedFor.slice(comma + 1, end).trim());
      if (hop === undefined) break;
      client = copyText(hop);
      end = comma;
    }
    last = { remote, forwardedFor, address: network(client) };
    return last.address;
  };
}

/** Checks whether a connection's address, or a result of `addressIn`, is in `trusted`. */
export function proxyCheck(trusted: Networks): (address: string) => boolean {
  const proxies = new BlockList();
  for (const { address, prefix, family } of trusted) proxies.addSubnet(address, prefix, family);
  return (address) => {
    const bare = addressIn(address) ?? address;
    return proxies.check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6');
  };
}

/** The IPv4 address, or the IPv6 network of 64 bits (`2001:db8:0:1::/64`), of a connection's address. */
export function network(remote: string): string {
  const address = addressIn(remote) ?? remote;
  if (!address.includes(':')) return address;
  const [before = [], after = []] = address.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}

/**
 * The address in a text, without zone, brackets and port, in its one canonical spelling. An IPv4 address that is mapped
 * into IPv6 becomes IPv4. Undefined when there is no address.
 */
function addressIn(text: string): string | undefined {
  // Most addresses are plain IPv4, with nothing to remove.
  if (isIPv4(text)) return text;
  const bare = text
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  if (!isIPv6(bare)) return isIPv4(bare) ? bare : undefined;
  const { address } = new SocketAddress({ address: bare, family: 'ipv6' });
  return address.replace(/^::ffff:(?=\d+\.)/, '');
}
