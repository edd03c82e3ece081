// The addresses in the configuration. Contract: section 7.
import { isIP } from 'node:net';

/** The normal form of a base address: the host in lower case, without the default port. Undefined if it is none. */
export function normalBase(value: string): string | undefined {
  const url = /^https?:\/\/[^/?#@]+\/[^?#]*$/i.test(value) ? URL.parse(value) : null;
  return url?.pathname.endsWith('/v1') === true ? url.origin + url.pathname : undefined;
}

/** The normal form of an origin, as browsers send it. Undefined if it is none. */
export function normalOrigin(value: string): string | undefined {
  return /^https?:\/\/[^/?#@\\]+$/i.test(value) ? URL.parse(value)?.origin : undefined;
}

/** The address of a listener: `http://127.0.0.1:8080`. */
export function origin(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Whether an address is that of all interfaces, which only a listener can use. */
export function isUnreachable(address: string): boolean {
  return /^https?:\/\/(?:0\.0\.0\.0|\[::\])[:/]/.test(address);
}
