import { count, percent, ranged, type Spread, table } from './figures.ts';
import { goalText, type Judged } from './goals.ts';
import { BARE_CPU_MIN } from './rounds.ts';
import type { Row } from './rows.ts';

/** Share of requests. If fewer were counted, the service worked without Redis or its log, which is less work. */
const COUNTED_MIN = 0.99;

/** Formats all measurements. */
export function tables(rows: readonly Row[]): string {
  const parts = [ratios(rows), peers(rows), latencies(rows)];
  return parts.filter((part) => part !== undefined).join('\n\n');
}

function ratios(rows: readonly Row[]): string {
  const speeds = ['scenario', 'bare req/s', 'service req/s', 'ratio (range)', 'goal'];
  const costs = ['µs bare', 'µs service', 'CPU ratio', 'p50 ms', 'p99 ms', 'wrk CPU'];
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
  return table([[...speeds, ...costs], ...lines]);
}

function peers(rows: readonly Row[]): string | undefined {
  const line = (name: string, times: Spread & Judged) => [name, '', ranged(times), goalText(times)];
  const lines = rows.flatMap(({ scenario, peers: all, timesBest, timesSynced }) => [
    ...all.map(({ name, requestsPerSecond, times }) => {
      return [`${scenario}: ${name}`, count(requestsPerSecond), ranged(times), ''];
    }),
    ...(timesBest ? [line(`${scenario}: best`, timesBest)] : []),
    ...(timesSynced?.goal === undefined ? [] : [line(`${scenario}: best that syncs each`, timesSynced)]),
  ]);
  return lines.length === 0
    ? undefined
    : table([['peer', 'req/s', 'times the peer (range)', 'goal'], ...lines]);
}

function latencies(rows: readonly Row[]): string | undefined {
  const lines = rows.flatMap(({ scenario, paced }) =>
    (['service', 'bare'] as const).flatMap((name) => {
      if (paced === undefined) return [];
      const { p50, p99, p999 } = paced[name];
      const goal = name === 'service' ? goalText(paced.p99) : '';
      const figures = [p50, p99, p999].map((milliseconds) => milliseconds.toFixed(2));
      return [[`${scenario}: ${name}`, count(paced.rate), ...figures, goal]];
    }),
  );
  if (lines.length === 0) return undefined;
  return table([['at a steady rate', 'req/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'goal p99'], ...lines]);
}

/** Reasons to doubt the figures of a scenario, one line each. */
export function warningsOf({ scenario, loadCpu, loadBound, bareCpu, counted }: Row): string[] {
  const warnings: string[] = [];
  if (loadBound) {
    warnings.push(`the load generator used ${percent(loadCpu)} of its core and was the bottleneck.`);
  }
  if (bareCpu < BARE_CPU_MIN) {
    warnings.push(`the bare server got only ${percent(bareCpu)} of its core: other programs are running.`);
  }
  if (counted < COUNTED_MIN) {
    warnings.push(`only ${percent(counted)} of the requests were counted in Redis, or logged: less work.`);
  }
  return warnings.map((warning) => `${scenario}: ${warning}`);
}
