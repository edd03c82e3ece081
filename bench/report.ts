import type { Measurement } from './load.ts';
import { median, type Spread, spread } from './statistics.ts';
import { aligned, count, percent, ranged } from './table.ts';

export interface Round {
  readonly bare: Measurement;
  readonly service: Measurement;
  readonly peer: Measurement | undefined;
  /** Share of the service's requests that were counted where they should be. */
  readonly counted: number;
}

/** One scenario: the measurements of every round. */
export interface Result {
  readonly name: string;
  readonly rounds: readonly Round[];
}

/** Medians over the rounds. Quotients are taken in each round for itself: what slows both down in it does not count. */
export interface Row {
  readonly scenario: string;
  readonly bareRequestsPerSecond: number;
  readonly serviceRequestsPerSecond: number;
  /** Service to bare. */
  readonly ratio: Spread;
  readonly peer: { readonly requestsPerSecond: number; readonly timesPeer: Spread } | undefined;
  /** Latency of the service in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Highest share of its core that the load generator used, and the lowest that the bare server used. */
  readonly loadCpu: number;
  readonly bareCpu: number;
  /** The lowest share of the service's requests that were counted where they should be. */
  readonly counted: number;
}

/** From this share of its core on, the load generator may be what limits the bare server. */
const BUSY = 0.95;

/** Below this share of its core, something other than its own work held the bare server up. */
const IDLE = 0.9;

/** Below this share of counted requests, the service went on without its shared counter for a while: less work. */
const UNCOUNTED = 0.99;

export function rowOf({ name, rounds }: Result): Row {
  const services = rounds.map(({ service }) => service);
  const peers = rounds.flatMap(({ service, peer }) => (peer === undefined ? [] : [{ service, peer }]));
  return {
    scenario: name,
    bareRequestsPerSecond: median(rounds.map(({ bare }) => bare.requestsPerSecond)),
    serviceRequestsPerSecond: median(services.map(({ requestsPerSecond }) => requestsPerSecond)),
    ratio: spread(rounds.map(({ bare, service }) => service.requestsPerSecond / bare.requestsPerSecond)),
    peer:
      peers.length === 0
        ? undefined
        : {
            requestsPerSecond: median(peers.map(({ peer }) => peer.requestsPerSecond)),
            timesPeer: spread(
              peers.map(({ service, peer }) => service.requestsPerSecond / peer.requestsPerSecond),
            ),
          },
    p50: median(services.map(({ p50 }) => p50)),
    p99: median(services.map(({ p99 }) => p99)),
    loadCpu: Math.max(
      ...rounds.flatMap(({ bare, service, peer }) => [bare, service, peer].map((each) => each?.loadCpu ?? 0)),
    ),
    bareCpu: Math.min(...rounds.map(({ bare }) => bare.serverCpu)),
    counted: Math.min(...rounds.map(({ counted }) => counted)),
  };
}

export function table(rows: readonly Row[]): string {
  const beside = rows.some(({ peer }) => peer !== undefined);
  const head = [
    'scenario',
    'bare req/s',
    'service req/s',
    ...(beside ? ['peer req/s'] : []),
    'ratio (range)',
    ...(beside ? ['times the peer (range)'] : []),
    'p50 ms',
    'p99 ms',
    'wrk CPU',
  ];
  const lines = rows.map(({ peer, ...row }) => [
    row.scenario,
    count(row.bareRequestsPerSecond),
    count(row.serviceRequestsPerSecond),
    ...(peer ? [count(peer.requestsPerSecond)] : []),
    ranged(row.ratio),
    ...(peer ? [ranged(peer.timesPeer)] : []),
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    percent(row.loadCpu),
  ]);
  return aligned([head, ...lines]);
}

/** What makes the figures of a scenario doubtful, a line each. */
export function doubts({ scenario, loadCpu, bareCpu, counted }: Row): string[] {
  return [
    ...(loadCpu >= BUSY
      ? [`${scenario}: the load generator used ${percent(loadCpu)} of its core and may be the bottleneck.`]
      : []),
    ...(bareCpu < IDLE
      ? [`${scenario}: the bare server got only ${percent(bareCpu)} of its core: other programs are running.`]
      : []),
    ...(counted < UNCOUNTED
      ? [
          `${scenario}: only ${percent(counted)} of the requests were counted in Redis, which did not answer in time.`,
        ]
      : []),
  ];
}
