import { isIP } from 'node:net';

/** Why an address is refused. The message follows the name of its variable, and never repeats a part of the address. */
export class UrlError extends Error {
  override readonly name = 'UrlError';
}

/** The parts of the address of a server, decoded. What it leaves out is undefined. */
export interface ServerUrl {
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** IPv6 without brackets. A path is that of a Unix socket. */
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** What follows the first slash. */
  readonly path: string | undefined;
  readonly parameters: ReadonlyMap<string, string>;
}

const ENCODING =
  'cannot be read: in its user, password and parameters, write % as %25, @ as %40, / as %2F, : as %3A, # as %23, ? as %3F and a space as %20';

/**
 * `@` and `#` are refused behind the server: a password that holds one of `/ ? #` would end there, and a part of it would
 * be the host or the port, which messages name.
 */
const PARTS = /^[a-z]+:\/\/([^/?#]*)(?:\/([^?#@]*))?(?:\?([^#@]*))?$/;

const HOST_AND_PORT = /^(\[[^[\]]*\]|[^:[\]]*)(?::(\d*))?$/;

/** Of a name or an address of the network. */
const HOST = /^[\p{L}\p{M}\p{N}._~-]*$/u;

/**
 * The only parser of the addresses of databases and counters. Drivers get its parts, because a second parser may read another
 * host or another password.
 * @throws UrlError
 */
export function parseServerUrl(text: string): ServerUrl {
  const parts = /[\s\p{Cc}]/u.test(text) ? null : PARTS.exec(text);
  if (parts === null) throw new UrlError(ENCODING);
  const [, authority = '', path = '', query = ''] = parts;
  // The last one, because users and passwords with an @ work, too.
  const at = authority.lastIndexOf('@');
  return {
    ...readCredentials(authority.slice(0, Math.max(at, 0))),
    ...readServer(authority.slice(at + 1)),
    path: decode(path) || undefined,
    parameters: readParameters(query),
  };
}

/** Why `parse` refuses an address; undefined when it does not. */
export function findUrlIssue(parse: (text: string) => unknown, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof UrlError) return error.message;
    throw error;
  }
}

function readCredentials(text: string): Pick<ServerUrl, 'user' | 'password'> {
  const colon = text.indexOf(':');
  // Probably a password behind an @ instead of a colon. Servers name the user in messages.
  if (colon === -1 && text.includes('@')) throw new UrlError(ENCODING);
  const [user, password] = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  return { user: decode(user) || undefined, password: decode(password) || undefined };
}

function readServer(text: string): Pick<ServerUrl, 'host' | 'port'> {
  const [, written = '', port = ''] = HOST_AND_PORT.exec(text) ?? refuseServer(text);
  if (!written.startsWith('[')) return { host: readHost(decode(written)), port: readPort(port) };
  const host = decode(written.slice(1, -1));
  if (isIP(host) !== 6) throw new UrlError(ENCODING);
  return { host, port: readPort(port) };
}

function refuseServer(text: string): never {
  if (isIP(text) === 6) throw new UrlError('must have brackets around an IPv6 address, as in [::1]:5432');
  const servers = text.split(',');
  if (servers.length > 1 && servers.every((each) => HOST_AND_PORT.test(each))) throw severalServers();
  throw new UrlError(ENCODING);
}

/** @throws UrlError */
export function readHost(host: string): string | undefined {
  if (host.includes(',') && host.split(',').every((each) => HOST.test(each))) throw severalServers();
  if (!host.startsWith('/') && isIP(host) === 0 && !HOST.test(host)) throw new UrlError(ENCODING);
  return host || undefined;
}

/** @throws UrlError */
export function readPort(text: string): number | undefined {
  if (text === '') return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw new UrlError('must have a port from 1 to 65535');
  return port;
}

function severalServers(): UrlError {
  return new UrlError('must name one server, at an address that always leads to the primary');
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split('&').filter((each) => each !== '')) {
    const [, written = '', value = ''] = /^([^=]+)=(.*)$/.exec(part.replaceAll('+', ' ')) ?? [];
    const name = decode(written);
    // Probably the rest of a value.
    if (name === '') throw new UrlError('must have NAME=VALUE for each parameter: write & as %26');
    if (parameters.has(name)) throw new UrlError('must have each parameter once');
    parameters.set(name, decode(value));
  }
  return parameters;
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    // Protocols of databases end a text there.
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // The digits of an escape are missing, or are no UTF-8.
  }
  throw new UrlError(ENCODING);
}
