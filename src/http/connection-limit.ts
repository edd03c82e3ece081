import type { Server } from 'node:net';
import type { Logger } from 'pino';
import type { Networks } from '../config.ts';
import { network, proxyCheck } from './address.ts';

/**
 * Closes connections beyond `limit` of one client address (an IPv4 address, an IPv6 /64) as soon as they open. Proxies
 * of `trusted` (TRUST_PROXY) speak for many clients and have no limit.
 */
export function limitConnections(server: Server, limit: number, trusted: Networks, log: Logger): void {
  const isProxy = proxyCheck(trusted);
  const open = new Map<string, number>();
  /** Addresses whose limit is logged, until they have only half as many connections: one line for one flood. */
  const logged = new Set<string>();
  server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    // Gone before it was accepted.
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
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left <= limit / 2) logged.delete(address);
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}
