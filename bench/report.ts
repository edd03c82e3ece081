import { count, percent, ranged, table } from './figures.ts';
import { goalText } from './goals.ts';
import { BARE_CPU_MIN } from './rounds.ts';
import type { Row } from './rows.ts';

/** Share of requests. If fewer were counted, the service worked without Redis or its log, which is less work. */
const COUNTED_MIN = 0.99;

/** Formats all measurements. */
export function tables(rows: readonly Row[]): string {
  return [ratios(rows), peers(rows), latencies(rows)]
    .filter((lines) => lines.length > 1)
    .map(table)
    .join('\n\n');
}

type Lines = readonly (readonly string[])[];

function ratios(rows: readonly Row[]): Lines {
  const speeds = ['scenario', 'bare req/s', 'service req/s', 'ratio (range)', 'goal'];
  const costs = ['µs bare', 'µs service', 'CPU ratio', 'wrk CPU'];
  const lines = rows.map((row) => [
    row.scenario,
    count(row.bareRequestsPerSecond),
    count(row.serviceRequestsPerSecond),
    ranged(row.ratio),
    goalText(row.ratio),
    row.bareCpuTime.toFixed(1),
    row.serviceCpuTime.toFixed(1),
    row.cpuRatio.median.toFixed(2),
    percent(row.loadCpu),
  ]);
  return [[...speeds, ...costs], ...lines];
}

function peers(rows: readonly Row[]): Lines {
  const lines = rows.flatMap(({ scenario, peerRequestsPerSecond = 0, times }) =>
    times === undefined ? [] : [[scenario, count(peerRequestsPerSecond), ranged(times), goalText(times)]],
  );
  return [['scenario', 'peer req/s', 'times the peer (range)', 'goal'], ...lines];
}

function latencies(rows: readonly Row[]): Lines {
  const lines = rows.flatMap(({ scenario, paced }) =>
    (['service', 'bare'] as const).flatMap((name) => {
      if (paced === undefined) return [];
      const { p50, p99 } = paced[name];
      const goal = name === 'service' ? goalText(paced.p99) : '';
      return [[`${scenario}: ${name}`, count(paced.rate), p50.toFixed(2), p99.toFixed(2), goal]];
    }),
  );
  return [['at a steady rate', 'req/s', 'p50 ms', 'p99 ms', 'goal p99'], ...lines];
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
