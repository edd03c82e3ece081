import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { type Addresses, logAddresses, warnOfAddresses } from './announce.ts';
import { startBackground } from './background.ts';
import type { Config } from './config.ts';
import type { OpenConsole } from './console-listener.ts';
import type { Clock } from '../domain/clock.ts';
import { clientAddress } from '../http/address.ts';
import type { OpenMetrics } from './metrics-listener.ts';
import { Outages } from '../observability/outages.ts';
import { FailedRequests } from '../observability/failed-requests.ts';
import { RecentRequests } from '../observability/recent-requests.ts';
import { HTTP_LIMITS, type HttpLimits } from '../http/server.ts';
import type { RateLimiter } from '../limits/limiter.ts';
import type { NewConnection } from '../limits/redis/connection.ts';
import { openLimiter } from './limiter.ts';
import { openPublicApi, type PublicApi } from './public-listener.ts';
import { ServingGate } from './serving-gate.ts';
import { createSite } from './site.ts';
import { stopService } from './stop.ts';
import { type ListenerParts, type OpenPort, openPort } from './listen.ts';
import type { OpenService } from '../resources/feature.ts';
import { DEPRECATED_OPERATIONS, OPERATIONS } from '../resources/operations.ts';
import { closeServices, openServices, type ServiceNeeds } from '../resources/services.ts';
import { openStore } from './store.ts';
import { findExposedFile } from '../storage/open.ts';
import type { Store } from '../resources/repositories.ts';

/** Milliseconds between two checks of the store's lock and files. A loss may stay unnoticed this long. */
const CHECK_INTERVAL = 1_000;

const EXPOSED =
  'other users of this machine have rights to the database: take them away as its owner, for example with chmod 600';

/** The mark of the migration to owners in a database with keys. Until the next release. */
const UPGRADED = 'partners apart';

const UPGRADE =
  'upgraded: all animals belong to the house, and each key with pets:write has pets:manage too; ' +
  'until the last instance of the version before has stopped, rotate no key: see "Partners apart" in docs/operating.md';

export interface Service {
  /** The address it listens on, without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The address of the console, if it has a listener. */
  readonly consoleUrl: string | undefined;
  /** Where Prometheus reads, if there is a listener for it. */
  readonly metricsUrl: string | undefined;
  readonly store: Store;
  /** Turns readiness off, finishes what was accepted, writes the counts and closes the store; within 10 seconds. */
  stop(): Promise<void>;
}

/** What speaks to files, the network and threads. */
interface Surroundings {
  readonly openStore: typeof openStore;
  readonly openPort: OpenPort;
  readonly createSite: typeof createSite;
  readonly newRedisConnection: NewConnection;
}

interface ServiceDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits?: HttpLimits;
  /** Overrides what the services of features get: the transport of webhooks, for example. */
  readonly features?: Partial<ServiceNeeds>;
  /** The world outside. By default it is the real one. */
  readonly surroundings?: Partial<Surroundings>;
  /** Tells of the addresses once everything listens; in the log by default. */
  readonly announce?: (addresses: Addresses) => void;
}

/**
 * The composition root: config → store → limiter → listeners → background tasks.
 * @throws StartupError in one line when the service cannot start.
 */
export async function startService(config: Config, dependencies: ServiceDependencies): Promise<Service> {
  const { clock, log, limits = HTTP_LIMITS } = dependencies;
  const { surroundings = {} } = dependencies;
  const { announce = (addresses: Addresses) => logAddresses(log, addresses) } = dependencies;
  let gate: ServingGate | undefined;
  const outages = new Outages();
  const onLost = (error: Error) => {
    // Of a pool, all are lost at once.
    if (outages.begins(error.message, clock().monotonic))
      log.warn({ err: error }, 'a connection to the database was lost');
    // If that connection held the lock, another service may count from now on.
    void gate?.check();
  };
  const store = await (surroundings.openStore ?? openStore)({ ...config, clock, onLost, mustWrite: true });
  const servers: Server[] = [];
  let limiter: RateLimiter | undefined;
  let services: readonly OpenService[] = [];
  try {
    // A process that counts by itself must be the only one. With Redis there may be many.
    if (config.redisUrl === undefined) await store.lockForServing(config.environment);
    const exposed = findExposedFile(config.databaseUrl);
    if (exposed !== undefined) log.warn({ file: exposed }, EXPOSED);
    if (await store.events.takeMark(UPGRADED)) log.warn(UPGRADE);
    let metrics: OpenMetrics | undefined;
    const opened = await openLimiter(config, store, {
      clock,
      log,
      onHeartbeat: (seconds) => metrics?.metrics.heartbeat(seconds),
      ...surroundings,
    });
    ({ limiter } = opened);
    const state = { isOpen: true, isDraining: false, isWritable: true };
    const stopping = new AbortController();
    const recent = config.console && new RecentRequests();
    const base = {
      ...config,
      ...store,
      ...opened,
      clock,
      log,
      state,
      stopping: stopping.signal,
      recent,
      failedRequests: new FailedRequests(),
      isAlone: config.redisUrl === undefined,
      operationIds: OPERATIONS.map(({ id }) => id),
      holderIds: OPERATIONS.filter(({ allowance }) => allowance === 'holder').map(({ id }) => id),
      deprecated: DEPRECATED_OPERATIONS,
      ping: () => store.ping(),
      startedAt: clock().unix,
    };
    const opens = await openServices({ ...base, ...dependencies.features });
    ({ services } = opens);
    const uses = { ...base, ...opens.uses };
    const shared: ListenerParts = {
      config,
      limits,
      clock,
      log,
      state,
      servers,
      openPort: surroundings.openPort ?? openPort,
    };
    const addressOf = clientAddress(config.trustProxy);

    let api: PublicApi | undefined;
    if (config.metricsPort !== undefined) {
      const { openMetrics } = await import('./metrics-listener.ts');
      const parts = { ...shared, store, limiter, services };
      metrics = await openMetrics(parts, config.metricsPort, () => api?.inFlight ?? 0);
    }
    const requests = metrics?.metrics.requests;
    let operatorConsole: OpenConsole | undefined;
    if (config.console !== undefined && recent !== undefined) {
      const { openConsole } = await import('./console-listener.ts');
      operatorConsole = await openConsole(
        {
          ...shared,
          uses: { ...uses, recent },
          secrets: store.operators,
          passkeys: uses.ceremonies,
          limiter,
          addressOf,
        },
        config.console,
        requests,
      );
    }
    api = await openPublicApi(
      {
        ...shared,
        uses,
        keys: store.keys,
        keyUses: uses.keyUses,
        usage: uses.usage,
        limiter,
        recordDecision: uses.limitWatch.record,
        failedRequests: uses.failedRequests,
        recent,
        addressOf,
        createSite: surroundings.createSite ?? createSite,
        ping: uses.ping,
      },
      requests,
    );

    const reload = async () => {
      await background.idle();
      await opened.limiter.reload().catch((error: unknown) => {
        // Nobody else can have counted there either, and reads go on.
        if (!store.dialect.isReadOnly(error)) throw error;
      });
    };
    gate = new ServingGate({ store, state, reload, log });
    const checks = setInterval(() => void gate?.check(), CHECK_INTERVAL);
    // Started after the checks, so that a flush of the same second already knows their result.
    const { preparePages } = api;
    const background = startBackground({
      store,
      limiter,
      services,
      preparePages,
      stopping: stopping.signal,
      clock,
      state,
      log,
    });
    const addresses = {
      url: api.url,
      environment: config.environment,
      base: api.base,
      console: operatorConsole && { url: operatorConsole.url, listener: operatorConsole.listener },
      metrics: metrics?.url,
    };
    announce(addresses);
    warnOfAddresses(log, addresses);
    const parts = {
      log,
      servers,
      store,
      limiter,
      services,
      state,
      stopping,
      api,
      console: operatorConsole,
      background,
      gate,
      checks,
    };
    return {
      url: api.url,
      consoleUrl: operatorConsole?.url,
      metricsUrl: metrics?.url,
      store,
      stop: () => stopService(parts),
    };
  } catch (error) {
    for (const server of servers) server.close();
    limiter?.close();
    await closeServices(services, log);
    await store.close();
    throw error;
  }
}
