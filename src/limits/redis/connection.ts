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
import type { Arguments, Script } from './script.ts';
import { RedisServer } from './server.ts';

/** Redis 7 or Valkey, alone or as a cluster. */
export interface Redis {
  /** Runs a script in one round trip, or in two when the server has not seen it yet. All keys lie in one hash slot. */
  run(script: Script, keys: readonly string[], args: Arguments): Promise<unknown>;
  /** The names of the servers: of one, or of the primaries of a cluster. */
  servers(): readonly string[];
  /** Which of them has a key. */
  serverOf(key: string): string;
  /** What keys of callers of the same group may be in one script. */
  groupOf(caller: string): string;
  /** Gives up the connection to a server once there is a new one. */
  reconnect(server: string): Promise<void>;
  /** Every key that matches a pattern, on whichever server; one may come twice. */
  scan(pattern: string): AsyncIterable<string>;
  close(): void;
}

/** Nobody knows yet whether the server can be used: it is down, starting, or behind a broken network. */
export class UnreachableError extends StartupError {}

/** Replies of a server that is fit for use, but not now. */
const PASSING = /^(?:LOADING|BUSY|CLUSTERDOWN) /;

/** Errors of the driver, and of us, that say no more than that no answer came. */
const UNREACHABLE = [
  NoAnswer,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
] as const;

/**
 * Connects to a server, or to the cluster that it is part of, and refuses what would lose counts. `onError` hears of
 * connections that are lost.
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

/** What the server or the driver said, in one line; neither repeats a password. */
export function asStartupError(error: unknown): StartupError {
  if (error instanceof StartupError) return error;
  const Fault = isUnreachable(error) ? UnreachableError : StartupError;
  return new Fault(`The Redis server cannot be used: ${reason(error)}.`, { cause: error });
}

/** Whether this says nothing against the server. A wrong password or certificate does, and so does an unknown error. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isUnreachable);
  if (error instanceof ErrorReply) return PASSING.test(error.message);
  return UNREACHABLE.some((kind) => error instanceof kind) || isNetworkError(error);
}

/** An error of the operating system or of DNS; EPROTO is one of TLS. */
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
