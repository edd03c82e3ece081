import { StartupError } from '../../startup-error.ts';

const OLDEST_VERSION = 7;

/**
 * Refuses a server that would lose counts. `info` is its reply to INFO. Gives whether it is part of a cluster.
 * @throws StartupError that names what is wrong.
 */
export function refuseUnfit(info: string): { readonly clustered: boolean } {
  const of = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  // Under this name Valkey gives the version of Redis that it is compatible with.
  const version = of('redis_version') ?? 'of unknown version';
  if (!(Number.parseInt(version, 10) >= OLDEST_VERSION)) {
    throw new StartupError(`Redis 7 or Valkey is needed, and this server is Redis ${version}.`);
  }
  if (of('role') === 'slave') {
    throw new StartupError('The Redis server is a read-only replica: connect to the primary.');
  }
  const policy = of('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction' && of('maxmemory') !== '0') {
    throw new StartupError(
      `The Redis server evicts keys (maxmemory-policy ${policy}): counts would be lost; set noeviction.`,
    );
  }
  return { clustered: of('cluster_enabled') === '1' };
}
