import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Networks } from '../config.ts';

/** Tells the client's address of a request from the connection's address and `X-Forwarded-For`. */
export type ClientAddress = (remote: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Believes `X-Forwarded-For` only as far as it was written by proxies of `trusted` (TRUST_PROXY): the client is the
 * last address that is not one of them. Gives an IPv4 address, or an IPv6 network of 64 bits (decisions §6).
 */
export function clientAddress(trusted: Networks): ClientAddress {
  const proxies = new BlockList();
  for (const { address, prefix, family } of trusted) proxies.addSubnet(address, prefix, family);
  // Most connections come from the same proxy.
  let last = { address: '', isProxy: false };
  const isProxy = (address: string): boolean => {
    if (address !== last.address)
      last = { address, isProxy: proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') };
    return last.isProxy;
  };

  return (remote = '', forwardedFor = '') => {
    let client = addressIn(remote) ?? remote;
    // From the last hop on. The first one is the client, whether it is a proxy or not: nobody says more.
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

/** The address in a text: IPv4 without its IPv6 disguise; no zone, brackets or port. Undefined when there is none. */
function addressIn(text: string): string | undefined {
  // Most are: then there is nothing to take off.
  if (isIPv4(text)) return text;
  const bare = text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/%.*$/, '');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  const address = mapped ?? bare.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1');
  return isIPv4(address) || isIPv6(address) ? address : undefined;
}

/** The first 64 bits of an IPv6 address, in one spelling: `2001:db8:0:1::/64`. */
function network64(address: string): string {
  const [head = '', tail] = address.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':'));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  // A trailing IPv4 part stands for two groups.
  const length = first.length + last.length + (address.includes('.') ? 1 : 0);
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - length }, () => '0');
  const network = [...first, ...zeros, ...last]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
