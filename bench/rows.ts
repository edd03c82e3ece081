import type { Paced, Result } from './compare.ts';
import { median, type Spread, spread } from './figures.ts';
import { atLeast, type Goals, type Judged, under } from './goals.ts';
import { cpuTime, type Latencies } from './load.ts';

/** The share of its core from which a process counts as fully busy. Below that, it waited for something. */
const FULL_CORE = 0.95;

interface PacedRow {
  readonly rate: number;
  readonly service: Latencies;
  readonly bare: Latencies;
  /** The 99th percentile of the service, in milliseconds. */
  readonly p99: Spread & Judged;
}

/** Medians over the rounds. Ratios are taken within each round, so that a slow round affects both sides. */
export interface Row {
  readonly scenario: string;
  readonly bareRequestsPerSecond: number;
  readonly serviceRequestsPerSecond: number;
  /** Throughput of the service divided by that of the bare server. */
  readonly ratio: Spread & Judged;
  /** Processor time per request of the bare server divided by that of the service. A busy machine hardly changes it. */
  readonly cpuRatio: Spread;
  /** Processor time per request, in microseconds. */
  readonly bareCpuTime: number;
  readonly serviceCpuTime: number;
  readonly peerRequestsPerSecond: number | undefined;
  /** Throughput of the service divided by that of the peer. */
  readonly times: (Spread & Judged) | undefined;
  readonly paced: PacedRow | undefined;
  /** The highest share of its core that the load generator used. */
  readonly loadCpu: number;
  /** Whether the load generator was the bottleneck of a run: fully busy while the server was not. */
  readonly loadBound: boolean;
  /** The lowest share of its core that the bare server used. */
  readonly bareCpu: number;
  /** The lowest share of requests that were counted or logged. */
  readonly counted: number;
}

export function rowOf({ scenario: { name }, rounds, paced }: Result, goals: Goals): Row {
  const bares = rounds.map(({ bare }) => bare);
  const services = rounds.map(({ service }) => service);
  const ratio = spread(rounds.map(({ bare, service }) => service.requestsPerSecond / bare.requestsPerSecond));
  const both = rounds.flatMap(({ service, peer }) => (peer === undefined ? [] : [{ service, peer }]));
  const times = spread(both.map(({ service, peer }) => service.requestsPerSecond / peer.requestsPerSecond));
  return {
    scenario: name,
    bareRequestsPerSecond: median(bares.map(({ requestsPerSecond }) => requestsPerSecond)),
    serviceRequestsPerSecond: median(services.map(({ requestsPerSecond }) => requestsPerSecond)),
    ratio: { ...ratio, ...atLeast(goals.ratio, ratio.median) },
    cpuRatio: spread(rounds.map(({ bare, service }) => cpuTime(bare) / cpuTime(service))),
    bareCpuTime: median(bares.map(cpuTime)),
    serviceCpuTime: median(services.map(cpuTime)),
    ...(both.length === 0
      ? { peerRequestsPerSecond: undefined, times: undefined }
      : {
          peerRequestsPerSecond: median(both.map(({ peer }) => peer.requestsPerSecond)),
          times: { ...times, ...atLeast(goals.times, times.median) },
        }),
    paced: paced && pacedRow(paced, goals.p99),
    loadCpu: Math.max(...[...bares, ...services].map(({ loadCpu }) => loadCpu)),
    loadBound: [...bares, ...services].some(
      ({ loadCpu, serverCpu }) => loadCpu >= FULL_CORE && serverCpu < FULL_CORE,
    ),
    bareCpu: Math.min(...bares.map(({ serverCpu }) => serverCpu)),
    counted: Math.min(...rounds.map(({ counted }) => counted)),
  };
}

/** Ratios to the bare server, of throughput and of processor time per request. */
export interface Ratios {
  readonly throughput: number;
  readonly cpu: number;
}

export function ratiosOf({ ratio, cpuRatio }: Pick<Row, 'ratio' | 'cpuRatio'>): Ratios {
  return { throughput: ratio.median, cpu: cpuRatio.median };
}

function pacedRow({ rate, rounds }: Paced, goal: number | undefined): PacedRow {
  const medians = (all: readonly Latencies[]): Latencies => ({
    p50: median(all.map(({ p50 }) => p50)),
    p99: median(all.map(({ p99 }) => p99)),
  });
  const services = rounds.map(({ service }) => service);
  const p99 = spread(services.map((each) => each.p99));
  return {
    rate,
    service: medians(services),
    bare: medians(rounds.map(({ bare }) => bare)),
    p99: { ...p99, ...under(goal, p99.median) },
  };
}
