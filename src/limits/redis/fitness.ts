import {
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
} from '@redis/client';
import { reasonOf, StartupError } from '../../domain/startup-error.ts';
import { NoAnswer } from '../timeout.ts';

/** The server may be fit for use, but it is down, still starting, or behind a broken network. */
export class UnreachableError extends StartupError {}

/** The oldest Redis with every command and option that the scripts use. */
const OLDEST_VERSION = 7;

/** Error replies of a server that will be fit for use soon. */
const TEMPORARY = /^(?:LOADING|BUSY|CLUSTERDOWN) /;

/** Errors that only say that no answer came. */
const UNREACHABLE = [
  NoAnswer,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
] as const;

/** The message of the server or the driver. Neither repeats a password. */
export function asStartupError(error: unknown): StartupError {
  if (error instanceof StartupError) return error;
  const Kind = isUnreachable(error) ? UnreachableError : StartupError;
  return new Kind(`The Redis server cannot be used: ${reasonOf(error)}.`, { cause: error });
}

/** Whether the server may still be fit for use. It is not after a wrong password or certificate, or an unknown error. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isUnreachable);
  if (error instanceof ErrorReply) return TEMPORARY.test(error.message);
  return UNREACHABLE.some((kind) => error instanceof kind) || isNetworkError(error);
}

/** An error of the operating system or of DNS. EPROTO is an error of TLS. */
function isNetworkError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && (error as NodeJS.ErrnoException).code !== 'EPROTO';
}

/**
 * Refuses a server that would lose counts. `info` is its reply to INFO, `name` tells it from others of its cluster. Gives
 * whether it is part of a cluster.
 * @throws StartupError that names what is wrong.
 */
export function refuseUnfit(info: string, name = ''): { readonly clustered: boolean } {
  const of = (field: string) => new RegExp(`^${field}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  // Under this name Valkey gives the version of Redis that it is compatible with.
  const version = of('redis_version') ?? 'of unknown version';
  if (!(Number.parseInt(version, 10) >= OLDEST_VERSION)) {
    throw new StartupError(`Redis 7 or Valkey is needed, and this server is Redis ${version}.`);
  }
  const clustered = of('cluster_enabled') === '1';
  // In a cluster a replica names the primaries. After a failover, the server that everybody knows may be one.
  if (of('role') === 'slave' && !clustered) {
    throw new StartupError('The Redis server is a read-only replica: connect to the primary.');
  }
  const policy = of('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction' && of('maxmemory') !== '0') {
    throw new StartupError(
      `The Redis server${name === '' ? '' : ` ${name}`} evicts keys (maxmemory-policy ${policy}): counts would be lost; set noeviction.`,
    );
  }
  return { clustered };
}
