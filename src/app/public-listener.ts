import { origin } from '../config/addresses.ts';
import { baseUrls } from '../config/config.ts';
import type { RequestMetrics } from '../observability/request-metrics.ts';
import { cors } from '../http/cors.ts';
import { Listener } from '../http/listener.ts';
import { createPublicApi, type PublicApiOptions } from '../http/public-api.ts';
import type { ClientUses } from '../resources/operations.ts';
import { OPERATIONS } from '../resources/operations.ts';
import type { ListenerParts } from './listen.ts';
import type { createSite } from './site.ts';

export type PublicApi = Awaited<ReturnType<typeof openPublicApi>>;

interface PublicApiParts
  extends ListenerParts,
    Pick<
      PublicApiOptions<ClientUses>,
      'keys' | 'keyUses' | 'usage' | 'limiter' | 'recordDecision' | 'failedRequests' | 'recent' | 'addressOf'
    > {
  /** What operations use. */
  readonly uses: ClientUses;
  readonly createSite: typeof createSite;
  readonly ping: () => Promise<void>;
}

/** The public listener: the API below `/v1`, and the pages about it. */
export async function openPublicApi(parts: PublicApiParts, metrics: RequestMetrics | undefined) {
  const { config, state } = parts;
  const { environment, host } = config;
  const opened = await parts.openPort(parts, { host, port: config.port, variable: 'PORT' });
  const { port } = opened;
  // From here on nothing is awaited, so no connection is accepted before the app can answer it. With PORT=0 the port is
  // known only now, and the base addresses may depend on it.
  const { base, urls } = baseUrls(config, port);
  const site = parts.createSite({ urls, base, ping: parts.ping, state });
  const api = createPublicApi({
    ...parts,
    operations: OPERATIONS,
    environment,
    urls,
    base,
    site,
    cors: cors(config.corsOrigins),
  });
  const listener = new Listener(api, { ...parts, metrics });
  const wire = opened.serve(listener);
  return {
    /** The address it listens on, without a path. */
    url: origin(host, port),
    base,
    preparePages: (signal: AbortSignal) => site.prepare(signal),
    /** How many requests were accepted and are not answered yet. */
    get inFlight() {
      return listener.inFlight;
    },
    /** Answers every request in flight with 503. */
    abandon: () => listener.abandon(),
    /** Whether requests are not answered yet, or answers not sent. */
    get isBusy() {
      return listener.inFlight > 0 || wire.isBusy;
    },
  };
}
