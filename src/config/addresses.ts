// The addresses in the configuration. Contract: section 7.
import { isIP, isIPv4 } from 'node:net';

/** Characters of the longest base address. Headers have addresses below it, and the description says how long they are. */
export const BASE_LENGTH = 500;

/** The normal form of a base address: the host in lower case, without the default port. Undefined if it is none. */
export function normalBase(value: string): string | undefined {
  const url = /^https?:\/\/[^/?#@\\]+\/[^?#\\]*$/i.test(value) ? URL.parse(value) : null;
  const base = url?.pathname.endsWith('/v1') === true ? url.origin + url.pathname : undefined;
  return base !== undefined && base.length <= BASE_LENGTH ? base : undefined;
}

/** Characters of the longest origin: a name has at most 253. */
export const ORIGIN_LENGTH = 300;

// The URL Standard allows more characters in a host than any name has, such as * and !.
const ORIGIN = /^https?:\/\/(?:[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:]+\])(?::\d+)?$/;

/** The normal form of an origin, as browsers send it. Undefined if no browser sends one like it. */
export function normalOrigin(value: string): string | undefined {
  const normal = /^https?:\/\/[^/?#@\\]+$/i.test(value) ? (URL.parse(value)?.origin ?? '') : '';
  return normal.length <= ORIGIN_LENGTH && ORIGIN.test(normal) ? normal : undefined;
}

/** The address of a listener: `http://127.0.0.1:8080`. */
export function origin(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** The address of a listener as browsers should open it: with a name for this machine, because an IP address has no passkeys. */
export function browserOrigin(host: string, port: number): string {
  return origin(host === '127.0.0.1' || host === '::1' ? 'localhost' : host, port);
}

/** Whether an address is that of all interfaces, which only a listener can use. */
export function isUnreachable(address: string): boolean {
  return /^https?:\/\/(?:0\.0\.0\.0|\[::\])[:/]/.test(address);
}

/** The address of a listener as programs of this machine reach it. */
export function localAddress(address: string): string {
  return address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** A listener, by the variable of its port. */
interface Listener {
  readonly variable: string;
  readonly host: string;
  /** Undefined: it is off. 0 takes any free port. */
  readonly port: number | undefined;
}

/** An issue for each listener that needs the port of an earlier one. */
export function portConflicts(listeners: readonly Listener[]): readonly string[] {
  return listeners.flatMap(({ variable, host, port }, index) => {
    const other = listeners
      .slice(0, index)
      .find((each) => port !== 0 && port !== undefined && each.port === port && isShared(each.host, host));
    return other === undefined
      ? []
      : `${variable} must differ from ${other.variable}: both listeners would use port ${port}`;
  });
}

/** Whether a port can be used on one of these hosts only. `::` has all addresses, and 0.0.0.0 all of IPv4. */
function isShared(...names: readonly [string, string]): boolean {
  const hosts = names.map((name) => (name === 'localhost' ? '127.0.0.1' : name));
  if (hosts[0] === hosts[1] || hosts.includes('::')) return true;
  return hosts.includes('0.0.0.0') && hosts.every((host) => isIPv4(host));
}
