// Contract: section 1.
import type { ErrorCode } from '../domain/errors.ts';
import type { Plan } from '../domain/plan.ts';

/** Methods with a series of their own. All others share one, because a client may invent them. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']);

/** Upper bounds in seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5];

export interface RequestMetrics {
  /** `route` is the template, never the path; `seconds` is how long the service worked. */
  observe(
    method: string,
    route: string,
    status: number,
    code: ErrorCode | undefined,
    plan: Plan | undefined,
    seconds: number,
  ): void;
}

/** The requests of one method and route. */
interface Durations {
  /** In the text format of Prometheus, like all labels here. */
  readonly labels: string;
  /** Requests by the bucket that they belong to. The last one has no upper bound. */
  readonly counts: number[];
  /** Seconds. */
  sum: number;
  /** The plan is undefined when the caller is not known. */
  readonly byPlan: Map<Plan | undefined, Map<number, Map<ErrorCode | undefined, Series>>>;
  /** All of `byPlan`. */
  readonly series: Series[];
}

interface Series {
  readonly labels: string;
  count: number;
}

/**
 * The metrics of requests, in the text format of Prometheus. prom-client builds a text of all labels for each observation,
 * also for a child. Here an observation only follows Maps (docs/design/http.md).
 */
export class RequestCounts implements RequestMetrics {
  /** By route, then by method. */
  readonly #durations = new Map<string, Map<string, Durations>>();
  readonly #all: Durations[] = [];

  observe(
    method: string,
    route: string,
    status: number,
    code: ErrorCode | undefined,
    plan: Plan | undefined,
    seconds: number,
  ): void {
    const durations = this.#durations.get(route)?.get(method) ?? this.#open(route, method);
    let bucket = 0;
    while (seconds > (BUCKETS[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
    durations.sum += seconds;
    const series =
      durations.byPlan.get(plan)?.get(status)?.get(code) ?? openSeries(durations, plan, status, code);
    series.count++;
  }

  /** The requests of known callers of a method and route so far. */
  ofCallers(method: string, route: string): number {
    const byPlan = this.#durations.get(route)?.get(method)?.byPlan ?? new Map<Plan | undefined, never>();
    let requests = 0;
    for (const [plan, byStatus] of byPlan) {
      if (plan === undefined) continue;
      for (const byCode of byStatus.values()) for (const { count } of byCode.values()) requests += count;
    }
    return requests;
  }

  text(): string {
    const series = this.#all.flatMap((durations) => durations.series);
    return [
      '# HELP petstore_requests_total Requests answered.',
      '# TYPE petstore_requests_total counter',
      ...series.map(({ labels, count }) => `petstore_requests_total{${labels}} ${count}`),
      '# HELP petstore_request_duration_seconds Time from the request to its answer, without waits for the client, an event or an endpoint.',
      '# TYPE petstore_request_duration_seconds histogram',
      ...this.#all.flatMap(histogram),
      '',
    ].join('\n');
  }

  #open(route: string, method: string): Durations {
    const name = METHODS.has(method) ? method : 'other';
    const byMethod = branch(this.#durations, route);
    let durations = byMethod.get(name);
    if (durations === undefined) {
      const labels = `method="${name}",route="${route}"`;
      durations = { labels, counts: [...BUCKETS, 0].fill(0), sum: 0, byPlan: new Map(), series: [] };
      this.#all.push(durations);
      byMethod.set(name, durations);
    }
    return durations;
  }
}

function openSeries(
  { byPlan, labels, series: all }: Durations,
  plan: Plan | undefined,
  status: number,
  code: ErrorCode | undefined,
): Series {
  const ofCode = code === undefined ? '' : `,code="${code}"`;
  const ofPlan = plan === undefined ? '' : `,plan="${plan}"`;
  const series = { labels: `${labels},status="${status}"${ofCode}${ofPlan}`, count: 0 };
  branch(branch(byPlan, plan), status).set(code, series);
  all.push(series);
  return series;
}

function branch<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  let below = map.get(key);
  if (below === undefined) map.set(key, (below = new Map()));
  return below;
}

/** Each bucket counts the requests up to its bound. */
function histogram({ labels, counts, sum }: Durations): readonly string[] {
  let total = 0;
  const buckets = [...BUCKETS, '+Inf'].map((bound, index) => {
    total += counts[index] ?? 0;
    return `petstore_request_duration_seconds_bucket{le="${bound}",${labels}} ${total}`;
  });
  return [
    ...buckets,
    `petstore_request_duration_seconds_sum{${labels}} ${sum}`,
    `petstore_request_duration_seconds_count{${labels}} ${total}`,
  ];
}
