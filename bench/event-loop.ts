import type { PreparedService } from './service.ts';
import { freePort } from './processes.ts';

/** How late the event loop of the service was, in milliseconds: meanwhile every request waited. */
export interface EventLoopDelay {
  readonly p99: number;
  readonly longest: number;
}

/** A service that tells its metrics, and how to ask for the delays since they were last asked for. */
export async function withMetrics(
  prepared: PreparedService,
): Promise<{ prepared: PreparedService; delay: () => Promise<EventLoopDelay> }> {
  const port = await freePort();
  return {
    prepared: { ...prepared, env: { ...prepared.env, METRICS_PORT: `${port}` } },
    async delay() {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      const metrics = await response.text();
      const milliseconds = (name: string) => {
        const [, seconds] =
          new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(metrics) ?? [];
        if (seconds === undefined) throw new Error(`The service tells no ${name} of its event loop's delay.`);
        return Number(seconds) * 1000;
      };
      return { p99: milliseconds('p99'), longest: milliseconds('max') };
    },
  };
}
