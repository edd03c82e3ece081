import { createClient } from '@redis/client';
import type { RedisAddress } from '../../config/redis-url.ts';

/** One connection to a server of Redis. Commands run in the order in which they are sent. */
export interface Connection {
  connect(): Promise<void>;
  /** Rejects with an ErrorReply when the server refuses the command, and at once while there is no connection. */
  send(command: readonly string[]): Promise<unknown>;
  /** What it still waits for rejects. Can be called at any time, and again. */
  close(): void;
}

/** Makes a connection that is not open yet. `onError` is called when it is lost. */
export type NewConnection = (address: RedisAddress, onError: (error: Error) => void) => Connection;

/** Milliseconds to connect, and for each command that asks about the server. */
export const CONNECT_TIMEOUT = 1_000;

/** A connection over a socket. */
export const newSocketConnection: NewConnection = (address, onError) => {
  const { host, port, user, password, database, isEncrypted } = address;
  const tls = isEncrypted ? { tls: true as const } : {};
  const client = createClient({
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    ...(database > 0 && { database }),
    // In an outage a command must fail at once. Sent later, it would count a request twice.
    disableOfflineQueue: true,
    // Callers have their own timeouts.
    commandOptions: { timeout: 0 },
    // The outage policy reconnects, because the server may have been replaced.
    socket: { host, port, ...tls, connectTimeout: CONNECT_TIMEOUT, reconnectStrategy: false },
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  client.on('error', onError);
  return {
    connect: async () => void (await client.connect()),
    send: (command) => client.sendCommand([...command]),
    close() {
      if (client.isOpen) client.destroy();
    },
  };
};
