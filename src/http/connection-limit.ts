import type { Server } from 'node:net';
import type { Logger } from 'pino';
import type { Networks } from '../config/config.ts';
import { network, proxyCheck } from './address.ts';
import type { Connections } from 'direct-http';

/**
 * Connections of one address that read as soon as they are open. Node accepts one connection in each turn of the event
 * loop. If all that arrive together read at once, the next client waits much longer to be accepted.
 */
const UNDELAYED_MAX = 16;

/**
 * Closes new connections of a client address (an IPv4 address, an IPv6 /64) that has `limit` connections already. The
 * proxies in `trusted` (TRUST_PROXY) forward requests of many clients and have no limit.
 */
export function limitConnections(
  server: Server,
  limit: number,
  {
    trusted,
    log,
    connections,
  }: { trusted: Networks; log: Logger; connections: Pick<Connections<never>, 'queue'> },
): void {
  const isProxy = proxyCheck(trusted);
  const open = new Map<string, number>();
  /** Addresses whose limit was logged. They leave at half the limit, so that a flood gets one line. */
  const logged = new Set<string>();
  server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    // The client closed the connection before the service accepted it.
    if (remoteAddress === undefined) return;
    const address = network(remoteAddress);
    if (isProxy(remoteAddress)) return;
    const count = (open.get(address) ?? 0) + 1;
    if (count > limit) {
      socket.destroy();
      return;
    }
    if (count === limit && !logged.has(address)) {
      logged.add(address);
      log.warn({ address, limit }, 'a client address has reached its limit of connections');
    }
    open.set(address, count);
    if (count > UNDELAYED_MAX) {
      // In the next tick Node resumes a new socket.
      process.nextTick(() => socket.pause());
      connections.queue(() => socket.resume());
    }
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left <= limit / 2) logged.delete(address);
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}
