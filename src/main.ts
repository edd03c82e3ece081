import { randomBytes, randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { baseUrls, type Config, isUnreachable, origin } from './config.ts';
import type { CounterEvents, OpenCounters } from './limits/counter.ts';
import { MemoryCounter } from './limits/memory/counter.ts';
import { servingQuotas } from './limits/serving-quotas.ts';
import type { Clock } from './domain/clock.ts';
import { ChangeLog } from './change-log.ts';
import { clientAddress } from './http/address.ts';
import { App } from './http/app.ts';
import { limitConnections } from './http/connection-limit.ts';
import { cors } from './http/cors.ts';
import type { Gauges, Metrics } from './http/metrics.ts';
import { OPERATIONS } from './api/index.ts';
import { Routes } from './http/routes.ts';
import { createHttpServer, HTTP_LIMITS, type HttpLimits, serve } from './http/server.ts';
import { createSite } from './site/site.ts';
import { RecentRequests } from './http/recent.ts';
import { UsageCounts } from './http/usage-counts.ts';
import { deprecatedAccounts } from './management/deprecations.ts';
import type { OpenConsole } from './console/open.ts';
import { startBackground } from './background.ts';
import { listen } from './listen.ts';
import { ServingGate } from './serving-gate.ts';
import { systemAuthor } from './system-author.ts';
import { openStore } from './storage/open.ts';
import type { Store } from './storage/store.ts';

/** Milliseconds between two checks of the store's lock and files. A loss may stay unnoticed this long. */
const CHECK_INTERVAL = 1_000;

/** Milliseconds that a stop waits for the requests that were accepted. The rest of the 10 s is for counters and log. */
const DRAIN_TIME = 8_000;

export interface Service {
  /** The address it listens on, without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The address of the console, if it has a listener. */
  readonly consoleUrl: string | undefined;
  readonly store: Store;
  /** Turns readiness off, finishes what was accepted, writes counters and closes the store; within 10 seconds. */
  stop(): Promise<void>;
}

export interface ServiceDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: HttpLimits;
}

/**
 * The composition root: config → store → counters → app → listener.
 * @throws StartupError in one line when the service cannot start.
 */
export async function startService(config: Config, dependencies: ServiceDependencies): Promise<Service> {
  const { clock, log, limits = HTTP_LIMITS } = dependencies;
  let gate: ServingGate | undefined;
  const onLost = (error: Error) => {
    log.warn({ err: error }, 'a connection to the database was lost');
    // If that connection held the lock, another service may count from now on.
    void gate?.check();
  };
  const store = await openStore({ ...config, clock, author: systemAuthor(), onLost });
  const servers: Server[] = [];
  let closeCounters = () => {};
  try {
    // A process that counts by itself must be the only one. With a shared counter there may be many.
    if (config.redisUrl === undefined) await store.lockForServing(config.environment);
    const changeLog = new ChangeLog(store, log);
    let metrics: Metrics | undefined;
    const events: CounterEvents = {
      onBan: (keyId, ban) => void changeLog.banBegins(keyId, ban),
      onHeartbeat: (seconds) => metrics?.heartbeat(seconds),
    };
    const open = async (): Promise<OpenCounters> => {
      const { redisUrl } = config;
      if (redisUrl === undefined) {
        const inMemory = new MemoryCounter(clock, config, store.counters, events.onBan);
        return { counters: inMemory, quotas: store.quotas };
      }
      // Imported only when needed, because the driver of Redis makes every start slower.
      const { openShared } = await import('./limits/redis/open.ts');
      return openShared({ ...config, redisUrl, policy: config, clock, log, ...events });
    };
    let { counters, quotas: quotasInUse } = await open();
    const quotas = servingQuotas(() => quotasInUse);
    closeCounters = () => counters.close();
    let operatorConsole: OpenConsole | undefined;
    let consoleUrl: string | undefined;
    let draining = false;
    const isDraining = () => draining;
    const mayAdmit = () => gate?.isOpen ?? true;

    const server = createHttpServer(limits);
    servers.push(server);
    if (config.metricsPort !== undefined) {
      const { Metrics: Registered } = await import('./http/metrics.ts');
      const gauges: Gauges = {
        inFlight: () => app.inFlight,
        bans: () => counters.bansInForce(),
        sharedIsUp: () => counters.sharedIsUp,
        pool: () => store.poolLoad(),
        deprecatedAccounts: () => deprecatedAccounts(store.usageHistory, clock().unix),
      };
      metrics = new Registered(gauges, clock);
      const metricsServer = metrics.server(limits);
      servers.push(metricsServer);
      const metricsPort = await listen(metricsServer, config.host, config.metricsPort);
      log.info({ url: `${origin(config.host, metricsPort)}/metrics` }, 'metrics');
    }

    const addressOf = clientAddress(config.trustProxy);
    const recent = config.console && new RecentRequests();
    if (config.console !== undefined && recent !== undefined) {
      const { openConsole } = await import('./console/open.ts');
      const running = { store, quotas, recent, clock, isDraining, mayAdmit, log };
      operatorConsole = openConsole({
        ...running,
        config,
        url: config.console.url,
        addressOf,
        limits,
        metrics: metrics?.requests,
        counters: () => counters,
        address: () => consoleUrl ?? '',
      });
      servers.push(operatorConsole.server);
      const { host, port } = config.console;
      const listening = origin(host, await listen(operatorConsole.server, host, port));
      consoleUrl = config.console.url ?? listening;
      log.info({ url: consoleUrl, listener: listening }, 'console');
      if (isUnreachable(consoleUrl))
        log.warn({ url: consoleUrl }, 'no browser can open this address of the console: set CONSOLE_URL');
    }

    // From here to `serve` nothing is awaited, so no connection is accepted before the app can answer it.
    const port = await listen(server, config.host, config.port);
    // With PORT=0 the port is known only now, and the base addresses may depend on it.
    const { base, urls } = baseUrls(config, port);

    const usage = new UsageCounts(
      store.usageHistory,
      randomUUID(),
      OPERATIONS.map(({ id }) => id),
    );
    const app: App = new App({
      usage,
      recent,
      accounts: store.accounts,
      get counter() {
        return counters;
      },
      clock,
      environment: config.environment,
      urls,
      base,
      addressOf,
      isDraining,
      mayAdmit,
      routes: new Routes(OPERATIONS, base),
      stores: {
        ...store,
        quotas,
        clock,
        random: randomBytes,
        counter: { peek: (its) => counters.peek(its) },
      },
      site: createSite({ urls, base, ping: () => store.ping(), isDraining, mayAdmit }),
      cors: cors(config.corsOrigins),
      log,
      metrics: metrics?.requests,
    });
    const wire = serve(server, app, limits);
    limitConnections(server, config.maxConnectionsPerAddress, { trusted: config.trustProxy, log, wire });

    const reload = async () => {
      await background.idle();
      await counters.flushAll();
      const before = counters;
      ({ counters, quotas: quotasInUse } = await open());
      before.close();
    };
    gate = new ServingGate({ store, reload, log });
    const checks = setInterval(() => void gate?.check(), CHECK_INTERVAL);
    // Started after the checks, so that a flush of the same second already knows their result.
    const background = startBackground({
      store,
      counters: () => counters,
      usage,
      changeLog,
      clock,
      isDraining,
      mayWrite: mayAdmit,
      log,
    });
    const url = origin(config.host, port);
    log.info({ url, environment: config.environment, base, reference: `${url}/reference` }, 'listening');
    if (isUnreachable(base)) {
      const variable = `${config.environment.toUpperCase()}_URL`;
      log.warn({ base }, `no client can follow links to this base address: set ${variable}`);
    }

    return {
      url,
      consoleUrl,
      store,
      async stop() {
        draining = true;
        log.info('stopping');
        const expired = background.stopExpiry();
        const isBusy = () => app.inFlight > 0 || wire.isBusy || operatorConsole?.isBusy === true;
        await settled(() => !isBusy(), DRAIN_TIME);
        await app.abandon();
        operatorConsole?.abandon();
        for (const each of servers) {
          each.close();
          each.closeAllConnections();
        }
        clearInterval(checks);
        // The last counts may only be written under the lock, so it is taken again if possible.
        if (!mayAdmit()) await gate?.check();
        try {
          await expired;
          await background.stop();
        } catch (error) {
          log.error({ err: error }, 'the last counts could not be written down and are lost');
          throw error;
        } finally {
          // Closing ends connections on purpose, so `onLost` must not check the gate.
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

/** Waits until `condition` holds, at most `milliseconds`. */
async function settled(condition: () => boolean, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!condition() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
}
