import { goalText, type Judged } from './goals.ts';
import { IDLE } from './rounds.ts';
import type { Row } from './rows.ts';
import type { Spread } from './statistics.ts';
import { aligned, count, percent, ranged } from './table.ts';

/** Below this share, the service went on without its shared counter or its log for a while: less work. */
const UNCOUNTED = 0.99;

/** Everything that was measured, as text. */
export function tables(rows: readonly Row[]): string {
  const parts = [ratios(rows), peers(rows), latencies(rows)];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

function ratios(rows: readonly Row[]): string {
  const head = [
    'scenario',
    'bare req/s',
    'service req/s',
    'ratio (range)',
    'goal',
    'µs bare',
    'µs service',
    'CPU ratio',
  ];
  const lines = rows.map((row) => [
    row.scenario,
    count(row.bareRequestsPerSecond),
    count(row.serviceRequestsPerSecond),
    ranged(row.ratio),
    goalText(row.ratio),
    row.bareCpuTime.toFixed(1),
    row.serviceCpuTime.toFixed(1),
    row.cpuRatio.median.toFixed(2),
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    percent(row.loadCpu),
  ]);
  return aligned([[...head, 'p50 ms', 'p99 ms', 'wrk CPU'], ...lines]);
}

function peers(rows: readonly Row[]): string | undefined {
  const line = (name: string, speed: string, times: Spread & Partial<Judged>) => [
    name,
    speed,
    ranged(times),
    goalText({ goal: times.goal, reached: times.reached }),
  ];
  const lines = rows.flatMap(({ scenario, peers: all, timesBest, timesSynced }) => [
    ...all.map(({ name, requestsPerSecond, times }) =>
      line(`${scenario}: ${name}`, count(requestsPerSecond), times),
    ),
    ...(timesBest ? [line(`${scenario}: best`, '', timesBest)] : []),
    ...(timesSynced?.goal === undefined ? [] : [line(`${scenario}: best that syncs each`, '', timesSynced)]),
  ]);
  return lines.length === 0
    ? undefined
    : aligned([['peer', 'req/s', 'times the peer (range)', 'goal'], ...lines]);
}

function latencies(rows: readonly Row[]): string | undefined {
  const lines = rows.flatMap(({ scenario, paced }) =>
    (['service', 'bare'] as const).flatMap((who) => {
      if (paced === undefined) return [];
      const { p50, p99, p999 } = paced[who];
      const goal = who === 'service' ? goalText(paced.p99) : '';
      const figures = [p50, p99, p999].map((milliseconds) => milliseconds.toFixed(2));
      return [[`${scenario}: ${who}`, count(paced.rate), ...figures, goal]];
    }),
  );
  if (lines.length === 0) return undefined;
  return aligned([['at a steady rate', 'req/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'goal p99'], ...lines]);
}

/** What makes the figures of a scenario doubtful, a line each. */
export function doubts({ scenario, loadCpu, loadBound, bareCpu, counted }: Row): string[] {
  return [
    ...(loadBound
      ? [`${scenario}: the load generator used ${percent(loadCpu)} of its core and was the bottleneck.`]
      : []),
    ...(bareCpu < IDLE
      ? [`${scenario}: the bare server got only ${percent(bareCpu)} of its core: other programs are running.`]
      : []),
    ...(counted < UNCOUNTED
      ? [`${scenario}: only ${percent(counted)} of the requests were counted in Redis, or logged: less work.`]
      : []),
  ];
}
