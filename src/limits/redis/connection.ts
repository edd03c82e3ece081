import {
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
} from '@redis/client';
import { StartupError } from '../../startup-error.ts';
import { NoAnswer } from '../timeout.ts';
import { RedisCluster } from './cluster.ts';
import { refuseUnfit } from './fitness.ts';
import type { Redis } from './redis.ts';
import { RedisServer } from './server.ts';

/** The server may be fit for use, but it is down, still starting, or behind a broken network. */
export class UnreachableError extends StartupError {}

/** Error replies of a server that will be fit for use soon. */
const TEMPORARY = /^(?:LOADING|BUSY|CLUSTERDOWN) /;

/** Errors that only say that no answer came. */
const UNREACHABLE = [
  NoAnswer,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
] as const;

/**
 * Connects to a server, or to the cluster that it is part of. Refuses a server that would lose counts. `onError` is called
 * for each lost connection.
 * @throws StartupError in one line that never holds the password; UnreachableError when the server may be fit.
 */
export async function connectRedis(url: string, onError: (error: Error) => void): Promise<Redis> {
  const server = new RedisServer(url, onError);
  try {
    await server.connect();
    const { clustered } = refuseUnfit(await server.info());
    if (!clustered) return alone(server, new URL(url).host);
    const cluster = await RedisCluster.of(server, url, onError);
    server.close();
    return cluster;
  } catch (error) {
    server.close();
    throw asStartupError(error);
  }
}

/** The message of the server or the driver, in one line. Neither repeats a password. */
export function asStartupError(error: unknown): StartupError {
  if (error instanceof StartupError) return error;
  const Fault = isUnreachable(error) ? UnreachableError : StartupError;
  return new Fault(`The Redis server cannot be used: ${reason(error)}.`, { cause: error });
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

function alone(server: RedisServer, name: string): Redis {
  return {
    run: (script, keys, args) => server.run(script, keys, args),
    servers: () => [name],
    serverOf: () => name,
    groupOf: () => name,
    reconnect: () => server.connect(),
    scan: (pattern) => server.scan(pattern),
    close: () => server.close(),
  };
}

function reason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ');
  return error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
}
