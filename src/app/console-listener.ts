// Contract: section 10.1.
import { OPERATOR_OPERATIONS, type OperatorUses } from '../resources/operations.ts';
import { browserOrigin, origin } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import type { RequestMetrics } from '../observability/request-metrics.ts';
import { adminDescription } from '../description/admin-openapi.ts';
import { type AdminApiOptions, createAdminApi } from '../http/admin-api.ts';
import { Listener } from '../http/listener.ts';
import { CONSOLE_PAGES } from '../pages/console/console-page.ts';
import type { ListenerParts } from './listen.ts';

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

interface ConsoleParts
  extends ListenerParts,
    Pick<AdminApiOptions<OperatorUses>, 'secrets' | 'passkeys' | 'limiter' | 'addressOf'> {
  /** What operations use. `address` is that of the console. */
  readonly uses: Omit<OperatorUses, 'address'>;
}

/** The listener of the console at the address of CONSOLE_HOST, CONSOLE_PORT and CONSOLE_URL. */
export async function openConsole(
  parts: ConsoleParts,
  { host, port, url }: NonNullable<Config['console']>,
  metrics: RequestMetrics | undefined,
): Promise<OpenConsole> {
  let address = '';
  const api = createAdminApi({
    ...parts,
    operations: OPERATOR_OPERATIONS,
    uses: { ...parts.uses, address: () => address },
    pages: CONSOLE_PAGES,
    description: adminDescription,
    url,
    environment: parts.config.environment,
  });
  const operatorConsole = new Listener(api, { ...parts, metrics });
  const bound = await parts.openPort(parts, { host, port, variable: 'CONSOLE_PORT' });
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
