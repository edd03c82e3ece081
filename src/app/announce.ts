import type { Logger } from 'pino';
import { isUnreachable } from '../config/addresses.ts';
import type { Environment } from '../domain/api-key.ts';

/** Where a started service listens. */
export interface Addresses {
  /** Without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly environment: Environment;
  /** The base address that clients use. */
  readonly base: string;
  /** Where browsers find the console, and its listener. Undefined: there is no console. */
  readonly console: { readonly url: string; readonly listener: string } | undefined;
  /** Undefined: there are no metrics. */
  readonly metrics: string | undefined;
}

/** Logs the addresses. "listening" is the last line: a supervisor may wait for it. */
export function logAddresses(log: Logger, { url, environment, base, console, metrics }: Addresses): void {
  if (metrics !== undefined) log.info({ url: metrics }, 'metrics');
  if (console !== undefined) log.info(console, 'console');
  log.info({ url, environment, base, reference: `${url}/reference` }, 'listening');
}

/** Logs the addresses that nobody can open. */
export function warnOfAddresses(log: Logger, { environment, base, console }: Addresses): void {
  if (console !== undefined && isUnreachable(console.url))
    log.warn({ url: console.url }, 'no browser can open this address of the console: set CONSOLE_URL');
  if (!isUnreachable(base)) return;
  const variable = `${environment.toUpperCase()}_URL`;
  log.warn({ base }, `no client can follow links to this base address: set ${variable}`);
}
