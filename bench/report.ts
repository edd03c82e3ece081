import type { Measurement } from './load.ts';

/** One scenario: the measurements of every round, the bare server's and the service's. */
export interface Result {
  readonly name: string;
  readonly rounds: readonly { readonly bare: Measurement; readonly service: Measurement }[];
}

/** Medians over the rounds. */
export interface Row {
  readonly scenario: string;
  readonly bareRequestsPerSecond: number;
  readonly serviceRequestsPerSecond: number;
  /** Service to bare, each round for itself: what slows both down in one round does not count. */
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  /** Latency of the service in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Highest share of its core that the load generator used, and the lowest that the bare server used. */
  readonly loadCpu: number;
  readonly bareCpu: number;
}

/** From this share of its core on, the load generator may be what limits the bare server. */
const BUSY = 0.95;

/** Below this share of its core, something other than its own work held the bare server up. */
const IDLE = 0.9;

export function rowOf({ name, rounds }: Result): Row {
  const ratios = rounds.map(({ bare, service }) => service.requestsPerSecond / bare.requestsPerSecond);
  return {
    scenario: name,
    bareRequestsPerSecond: median(rounds.map(({ bare }) => bare.requestsPerSecond)),
    serviceRequestsPerSecond: median(rounds.map(({ service }) => service.requestsPerSecond)),
    ratio: median(ratios),
    lowestRatio: Math.min(...ratios),
    highestRatio: Math.max(...ratios),
    p50: median(rounds.map(({ service }) => service.p50)),
    p99: median(rounds.map(({ service }) => service.p99)),
    loadCpu: Math.max(...rounds.flatMap(({ bare, service }) => [bare.loadCpu, service.loadCpu])),
    bareCpu: Math.min(...rounds.map(({ bare }) => bare.serverCpu)),
  };
}

export function table(rows: readonly Row[]): string {
  const head = ['scenario', 'bare req/s', 'service req/s', 'ratio (range)', 'p50 ms', 'p99 ms', 'wrk CPU'];
  const lines = rows.map((row) => [
    row.scenario,
    count(row.bareRequestsPerSecond),
    count(row.serviceRequestsPerSecond),
    `${row.ratio.toFixed(2)} (${row.lowestRatio.toFixed(2)}–${row.highestRatio.toFixed(2)})`,
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    percent(row.loadCpu),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const aligned = (line: readonly string[]) =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  return [head, ...lines].map(aligned).join('\n');
}

/** What makes the figures of a scenario doubtful, a line each. */
export function doubts({ scenario, loadCpu, bareCpu }: Row): string[] {
  return [
    ...(loadCpu >= BUSY
      ? [`${scenario}: the load generator used ${percent(loadCpu)} of its core and may be the bottleneck.`]
      : []),
    ...(bareCpu < IDLE
      ? [`${scenario}: the bare server got only ${percent(bareCpu)} of its core: other programs are running.`]
      : []),
  ];
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
