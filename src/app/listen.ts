import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartupError } from '../domain/startup-error.ts';

/** Where a server listens, with the variable of its port. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly variable: 'PORT' | 'CONSOLE_PORT' | 'METRICS_PORT';
}

/** Connections that the kernel keeps until they are accepted. A client that is not accepted tries again only after 1 s. */
const MAX_BACKLOG = 4_096;

/**
 * Listens, and returns the port. Port 0 takes any free one.
 * @throws StartupError in one line.
 */
export async function listen(server: Server, { host, port, variable }: Place): Promise<number> {
  try {
    server.listen({ host, port, backlog: MAX_BACKLOG });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
        ? `the port is in use: set ${variable} to another one`
        : (error as Error).message;
    throw new StartupError(`Cannot listen on ${host}:${port}: ${reason}.`, { cause: error });
  }
}
