// Contract: section 13. Whom we may send to: docs/design/webhooks.md.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Result } from '../../domain/result.ts';
import type { FailureKind } from './rules.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. Rejects when it has none. */
export type Lookup = (hostname: string) => Promise<readonly Address[]>;

/** Whether an address is an ordinary one of the internet: outside the special-purpose registries, IPv6 within 2000::/3. */
export function isPublicAddress(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(ipaddr.IPv6.parse('2000::'), 3);
}

/** Messages follow the name of the field `url`. */
const MESSAGES = {
  name_not_resolved: 'must have a name that resolves to an address',
  address_not_public: 'must lead to public addresses only',
} as const satisfies Partial<Record<FailureKind, string>>;

/** The addresses to connect to, all of them checked, or why there are none. */
export async function resolveEndpoint(
  { hostname }: URL,
  lookup: Lookup,
  isAllowed: (address: string) => boolean,
): Promise<{ readonly addresses: readonly Address[] } | { readonly failure: keyof typeof MESSAGES }> {
  // The URL parser puts IPv6 in brackets, and IPv4 in its usual form.
  const literal = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(literal);
  let addresses: readonly Address[];
  try {
    addresses = family === 0 ? await lookup(hostname) : [{ address: literal, family: family as 4 | 6 }];
  } catch {
    return { failure: 'name_not_resolved' };
  }
  if (addresses.length === 0) return { failure: 'name_not_resolved' };
  return addresses.every(({ address }) => isAllowed(address))
    ? { addresses }
    : { failure: 'address_not_public' };
}

/** Why an endpoint is refused when a webhook gets its URL. */
export async function checkEndpoint(
  url: URL,
  lookup: Lookup,
  isAllowed: (address: string) => boolean,
): Promise<Result<undefined, 'invalid_request'>> {
  const resolved = await resolveEndpoint(url, lookup, isAllowed);
  return 'failure' in resolved
    ? { error: 'invalid_request', message: MESSAGES[resolved.failure] }
    : { value: undefined };
}
