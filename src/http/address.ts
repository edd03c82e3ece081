// Contract: section 6.
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Networks } from '../config.ts';

/** Tells the client's address of a request from the connection's address and `X-Forwarded-For`. */
export type ClientAddress = (remote: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Believes `X-Forwarded-For` only as far as it was written by proxies of `trusted` (TRUST_PROXY): the client is the
 * last address that is not one of them. Gives an IPv4 address, or an IPv6 network of 64 bits.
 */
export function clientAddress(trusted: Networks): ClientAddress {
  const isProxy = proxyCheck(trusted);
  return (remote = '', forwardedFor = '') => {
    let client = addressIn(remote) ?? remote;
    // Starts at the last hop. The first hop is the client even if it is a proxy, because nothing names another.
    for (let end = forwardedFor.length; end > 0 && trusted.length > 0 && isProxy(client); ) {
      const comma = forwardedFor.lastIndexOf(',', end - 1);
      const hop = addressIn(forwardedFor.slice(comma + 1, end).trim());
      if (hop === undefined) break;
      client = hop;
      end = comma;
    }
    return client.includes(':') ? network64(client) : client;
  };
}

/** Tells whether a connection's address, or one that `addressIn` gave, is one of `trusted`. */
export function proxyCheck(trusted: Networks): (address: string) => boolean {
  const proxies = new BlockList();
  for (const { address, prefix, family } of trusted) proxies.addSubnet(address, prefix, family);
  // Most connections come from the same proxy.
  let last = { address: '', isProxy: false };
  return (address) => {
    if (address !== last.address) {
      const bare = addressIn(address) ?? address;
      last = { address, isProxy: proxies.check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6') };
    }
    return last.isProxy;
  };
}

/** The IPv4 address, or the IPv6 network of 64 bits, of a connection's address. */
export function network(remote: string): string {
  const address = addressIn(remote) ?? remote;
  return address.includes(':') ? network64(address) : address;
}

/** The address in a text: IPv4 also when it is mapped into IPv6; no zone, brackets or port. Undefined when there is none. */
function addressIn(text: string): string | undefined {
  // Most are: then there is nothing to take off.
  if (isIPv4(text)) return text;
  const bare = text
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  if (!isIPv6(bare)) return isIPv4(bare) ? bare : undefined;
  const groups = groupsOf(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return bare;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** The eight groups of a valid IPv6 address, in any of its spellings. */
function groupsOf(address: string): number[] {
  const [first = [], last] = address.split('::').map(groupsIn);
  if (last === undefined) return first;
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0);
  return [...first, ...zeros, ...last];
}

/** A part of an IPv6 address without `::`. A trailing IPv4 address stands for two groups. */
function groupsIn(part: string): number[] {
  return part.split(':').flatMap((group) => {
    if (group === '') return [];
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** The first 64 bits of an IPv6 address, in one spelling: `2001:db8:0:1::/64`. */
function network64(address: string): string {
  const groups = groupsOf(address).slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
