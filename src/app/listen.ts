import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Connections, Handlers } from 'direct-http';
import type { Clock } from '../domain/clock.ts';
import type { ServiceState } from './state.ts';
import type { Config } from '../config/config.ts';
import { StartupError } from '../domain/startup-error.ts';
import { limitConnections } from '../http/connection-limit.ts';
import type { Response } from '../http/context.ts';
import { createHttpServer, type HttpLimits, serve } from '../http/server.ts';
import type { Logger } from 'pino';

/** Where a server listens, with the variable of its port. */
interface ListenAddress {
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
export async function listen(server: Server, { host, port, variable }: ListenAddress): Promise<number> {
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

/** What the ports of a service have together. */
interface PortParts {
  readonly config: Config;
  readonly limits: HttpLimits;
  readonly log: Logger;
  readonly servers: Server[];
}

/** A port that requests come to. */
interface Port {
  readonly port: number;
  /** Lets `handlers` answer the requests. Call it in the turn in which the port was opened: no request is accepted before. */
  serve(handlers: Handlers<Response>): Pick<Connections<Response>, 'isBusy'>;
}

export type OpenPort = (parts: PortParts, address: ListenAddress) => Promise<Port>;

/** Opens a port with the limits of the HTTP layer. @throws StartupError in one line. */
export const openPort: OpenPort = async ({ config, limits, log, servers }, address) => {
  const server = createHttpServer(limits);
  servers.push(server);
  return {
    port: await listen(server, address),
    serve(handlers) {
      const connections = serve(server, handlers, limits);
      limitConnections(server, config.maxConnectionsPerAddress, {
        trusted: config.trustProxy,
        log,
        connections,
      });
      return connections;
    },
  };
};

/** What the listeners of a service have together. */
export interface ListenerParts extends PortParts {
  readonly clock: Clock;
  readonly state: ServiceState;
  readonly openPort: OpenPort;
}
