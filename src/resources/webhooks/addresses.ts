// Contract: section 13. Whom we may send to: docs/design/webhooks.md.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The address to connect to, or why there is none. */
export type Found =
  | { readonly address: Address }
  | { readonly failure: 'name_not_resolved' | 'address_not_public' };

/** Whether an address is an ordinary one of the internet: outside the special-purpose registries, IPv6 within 2000::/3. */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(ipaddr.IPv6.parse('2000::'), 3);
}

/** The address of a host of a URL that needs no look-up. */
export function readAddress(hostname: string): Address | undefined {
  // The URL parser puts IPv6 in brackets, and IPv4 in its usual form.
  const literal = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(literal);
  if (family !== 0) return { address: literal, family: family as 4 | 6 };
  return /^localhost\.?$/.test(hostname) ? { address: '127.0.0.1', family: 4 } : undefined;
}

/**
 * One of the addresses of an endpoint, so that each counts what it gets, if all of them are allowed. IPv4 first, because a machine
 * without IPv6 resolves IPv6 too.
 */
export function chooseAddress(
  addresses: readonly Address[],
  { allowPrivate }: { readonly allowPrivate: boolean },
): Found {
  const address = addresses.find(({ family }) => family === 4) ?? addresses[0];
  if (address === undefined) return { failure: 'name_not_resolved' };
  const areAllowed = allowPrivate || addresses.every((each) => isPublicAddress(each.address));
  return areAllowed ? { address } : { failure: 'address_not_public' };
}
