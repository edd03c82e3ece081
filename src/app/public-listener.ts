import { randomUUID } from 'node:crypto';
import { OPERATIONS } from '../resources/operations.ts';
import { origin } from '../config/addresses.ts';
import { baseUrls } from '../config/config.ts';
import type { RequestMetrics } from '../observability/request-metrics.ts';
import { cors } from '../http/cors.ts';
import { KeyUses, UsageCounts } from '../observability/key-usage.ts';
import { Listener } from '../http/listener.ts';
import { createPublicApi } from '../http/public-api.ts';
import type { Running } from './running.ts';

export type PublicApi = Awaited<ReturnType<typeof openPublicApi>>;

/** The public listener: the API below `/v1`, and the pages about it. */
export async function openPublicApi(running: Running, metrics: RequestMetrics | undefined) {
  const { config, clock, store, state, limitWatch } = running;
  const { environment, host } = config;
  const opened = await running.openPort(running, { host, port: config.port, variable: 'PORT' });
  const { port } = opened;
  // From here on nothing is awaited, so no connection is accepted before the app can answer it. With PORT=0 the port is
  // known only now, and the base addresses may depend on it.
  const { base, urls } = baseUrls(config, port);
  const ids = OPERATIONS.map(({ id }) => id);
  const usage = new UsageCounts(store.usageHistory, randomUUID(), ids);
  const keyUses = new KeyUses(clock, (uses) => store.keys.writeUses(uses));
  const site = running.createSite({ urls, base, ping: () => store.ping(), state });
  const api = createPublicApi({
    ...running,
    operations: OPERATIONS,
    repositories: { ...store, ...running, environment, eventsKept: config.eventsKept },
    usage,
    noteDecision: limitWatch.note,
    keys: store.keys,
    keyUses,
    environment,
    urls,
    base,
    site,
    cors: cors(config.corsOrigins),
    metrics,
  });
  const listener = new Listener(api, running);
  const connections = opened.serve(listener);
  return {
    /** The address it listens on, without a path. */
    url: origin(host, port),
    base,
    keyUses,
    usage,
    preparePages: (signal: AbortSignal) => site.prepare(signal),
    /** How many requests were accepted and are not answered yet. */
    get inFlight() {
      return listener.inFlight;
    },
    /** Answers every request in flight with 503. */
    abandon: () => listener.abandon(),
    /** Whether requests are not answered yet, or answers not sent. */
    get isBusy() {
      return listener.inFlight > 0 || connections.isBusy;
    },
  };
}
