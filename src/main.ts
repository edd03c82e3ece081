import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { baseUrls, type Config, origin } from './config.ts';
import { openCounters } from './limits/open.ts';
import type { Clock } from './domain/clock.ts';
import { PetStoreError } from './domain/errors.ts';
import { clientAddress } from './http/address.ts';
import { App } from './http/app.ts';
import { limitConnections } from './http/connection-limit.ts';
import { cors } from './http/cors.ts';
import type { Metrics } from './http/metrics.ts';
import { openApi } from './http/openapi.ts';
import { petOperations } from './http/pets.ts';
import { apiRoutes } from './http/routes.ts';
import { createHttpServer, HTTP_LIMITS, type HttpLimits, serve } from './http/server.ts';
import { createSite } from './http/site.ts';
import { keepWriting } from './keep-writing.ts';
import { ServingGate } from './serving-gate.ts';
import { StartupError } from './startup-error.ts';
import { openStore } from './storage/open.ts';
import type { Store } from './storage/store.ts';

/** Milliseconds between two looks at the lock and the files of the store: how long a loss may go unnoticed. */
const CHECK_INTERVAL = 1_000;

/** How long what was accepted may take to finish once the service stops, in milliseconds. */
const DRAIN_TIME = 8_000;

const COUNTS_LOST =
  'The counts of the last second are lost: the database could not be used when the service stopped.';

export interface Service {
  /** Where it listens, without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly store: Store;
  /** Turns readiness off, finishes what was accepted, writes counters and closes the store; within 10 seconds. */
  stop(): Promise<void>;
}

export interface Surroundings {
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: HttpLimits;
}

/**
 * The composition root: config → store → counters → app → listener.
 * @throws StartupError in one line when something it needs cannot be had.
 */
export async function startService(config: Config, surroundings: Surroundings): Promise<Service> {
  const { clock, log, limits = HTTP_LIMITS } = surroundings;
  let gate: ServingGate | undefined;
  const onLost = (error: Error) => {
    log.warn({ err: error }, 'a connection to the database was lost');
    // It may be the one that holds the lock: then another service may count from now on.
    void gate?.check();
  };
  const store = await openStore({ ...config, clock, onLost });
  const servers: Server[] = [];
  let closeCounters = () => {};
  try {
    // A process that counts by itself must be the only one; a shared counter lets many serve.
    if (config.redisUrl === undefined) await store.lockForServing(config.environment);
    const open = () => openCounters({ ...config, policy: config, store: store.counters, clock, log });
    let counters = await open();
    closeCounters = () => counters.close();
    let draining = false;
    const isDraining = () => draining;
    const mayAdmit = () => gate?.isOpen ?? true;

    const server = createHttpServer(limits);
    limitConnections(server, config.maxConnectionsPerAddress, config.trustProxy, log);
    servers.push(server);
    const port = await listen(server, config.host, config.port);
    // Only now is the port known when any free one was asked for, and the base addresses may depend on it.
    const urls = baseUrls(config, port);
    const base = urls[config.environment];

    let metrics: Metrics | undefined;
    if (config.metricsPort !== undefined) {
      const { Metrics: Registered } = await import('./http/metrics.ts');
      metrics = new Registered({
        inFlight: () => app.inFlight,
        bans: () => counters.bansInForce(),
        sharedIsUp: () => counters.sharedIsUp,
      });
      const metricsServer = metrics.server(limits);
      servers.push(metricsServer);
      const metricsPort = await listen(metricsServer, config.host, config.metricsPort);
      log.info({ url: `${origin(config.host, metricsPort)}/metrics` }, 'metrics');
    }

    const app: App = new App({
      accounts: store.accounts,
      get counter() {
        return counters;
      },
      clock,
      environment: config.environment,
      urls,
      addressOf: clientAddress(config.trustProxy),
      isDraining,
      mayAdmit,
      matchRoute: apiRoutes(petOperations(store.pets, base)),
      site: createSite({
        openApi: openApi(urls, config.environment),
        base,
        ping: () => store.ping(),
        isDraining,
        mayAdmit,
      }),
      cors: cors(config.corsOrigins),
      log,
      metrics,
    });
    const connections = serve(server, app, limits);

    const reload = async () => {
      await keeper.idle();
      await counters.flushAll();
      const before = counters;
      counters = await open();
      before.close();
    };
    const checked = new ServingGate({ store, reload, log });
    gate = checked;
    const checks = setInterval(() => void checked.check(), CHECK_INTERVAL);
    // After the checks, so that a flush of the same second already knows their outcome.
    const keeper = keepWriting(
      async () => {
        await counters.flush();
        await store.flush();
      },
      async () => {
        // Each is tried, whatever becomes of the other.
        const ends = await Promise.allSettled([
          mayAdmit() ? counters.flushAll() : Promise.reject(new PetStoreError('unavailable', COUNTS_LOST)),
          store.flushAll(),
        ]);
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      },
      { mayWrite: mayAdmit, log },
    );
    const url = origin(config.host, port);
    log.info({ url, environment: config.environment, base }, 'listening');
    if (/^https?:\/\/(?:0\.0\.0\.0|\[::\])[:/]/.test(base)) {
      const variable = `${config.environment.toUpperCase()}_URL`;
      log.warn({ base }, `no client can follow links to this base address: set ${variable}`);
    }

    return {
      url,
      store,
      async stop() {
        draining = true;
        log.info('stopping');
        await settled(() => app.inFlight === 0 && !connections.areBusy, DRAIN_TIME);
        await app.abandon();
        for (const each of servers) {
          each.close();
          each.closeAllConnections();
        }
        clearInterval(checks);
        // The last counts may only be written under the lock: this is the last chance to take it again.
        if (!mayAdmit()) await checked.check();
        try {
          await keeper.stop();
        } catch (error) {
          log.error({ err: error }, 'the last counts could not be written down and are lost');
          throw error;
        } finally {
          // Closing ends connections: no loss that is to be mended.
          gate = undefined;
          closeCounters();
          await store.close();
          log.info('stopped');
        }
      },
    };
  } catch (error) {
    for (const server of servers) server.close();
    closeCounters();
    await store.close();
    throw error;
  }
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
        ? 'the port is in use'
        : (error as Error).message;
    throw new StartupError(`Cannot listen on ${host}:${port}: ${reason}.`, { cause: error });
  }
}

/** Waits until `condition` holds, at most `milliseconds`. */
async function settled(condition: () => boolean, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!condition() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
}
