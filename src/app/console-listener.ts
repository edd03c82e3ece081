// Contract: section 10.1.
import { DEPRECATED_OPERATIONS, OPERATOR_OPERATIONS } from '../resources/operations.ts';
import { createCeremonies } from '../resources/passkeys/ceremonies.ts';
import { nearestReader } from '../resources/overview/nearest.ts';
import { browserOrigin, origin } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import type { RequestMetrics } from '../observability/request-metrics.ts';
import { adminDescription } from '../description/admin-openapi.ts';
import { createAdminApi } from '../http/admin-api.ts';
import type { RecentRequests } from '../observability/recent-requests.ts';
import { Listener } from '../http/listener.ts';
import { CONSOLE_PAGES } from '../pages/console/console-page.ts';
import type { Running } from './running.ts';

export interface OpenConsole {
  /** Where browsers find it. */
  readonly url: string;
  /** Where it listens, when CONSOLE_URL is another address. */
  readonly listener: string;
  /** Whether requests are not answered yet, or answers not sent. */
  readonly isBusy: boolean;
  /** Answers every request in flight with 503. */
  abandon(): Promise<void>;
}

/** The listener of the console at the address of CONSOLE_HOST, CONSOLE_PORT and CONSOLE_URL. */
export async function openConsole(
  running: Running,
  recent: RecentRequests,
  { host, port, url }: NonNullable<Config['console']>,
  metrics: RequestMetrics | undefined,
): Promise<OpenConsole> {
  const { store, state, limiter, quotas, clock, config, failedRequests } = running;
  const { environment } = config;
  const ceremonies = createCeremonies(store.passkeys, environment);
  let address = '';
  const repositories = {
    ...store,
    ceremonies,
    quotas,
    limiter,
    clock,
    environment,
    recent,
    failedRequests,
    state,
    address: () => address,
    startedAt: clock().unix,
    deprecated: DEPRECATED_OPERATIONS,
    nearest: nearestReader({ ...store, limiter, clock }),
  };
  const api = createAdminApi({
    ...running,
    operations: OPERATOR_OPERATIONS,
    repositories,
    pages: CONSOLE_PAGES,
    description: adminDescription,
    url,
    environment,
    metrics,
    secrets: store.operators,
    passkeys: ceremonies,
  });
  const operatorConsole = new Listener(api, running);
  const bound = await running.openPort(running, { host, port, variable: 'CONSOLE_PORT' });
  const connections = bound.serve(operatorConsole);
  address = url ?? browserOrigin(host, bound.port);
  return {
    url: address,
    listener: origin(host, bound.port),
    get isBusy() {
      return operatorConsole.inFlight > 0 || connections.isBusy;
    },
    abandon: () => operatorConsole.abandon(),
  };
}
