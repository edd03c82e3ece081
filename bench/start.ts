import { setTimeout as delay } from 'node:timers/promises';
import type { Placement } from './placement.ts';
import type { Launch } from './processes.ts';
import { type PreparedService, startService } from './service.ts';
import { median } from './statistics.ts';

const STARTS = 5;

/** After so many milliseconds without a request the service is idle: what its start left behind is collected. */
const REST = 3_000;

export interface Start {
  /** From the start of the process to its first 200 at /readyz, in milliseconds; the median of five. */
  readonly milliseconds: number;
  /** Resident memory of the idle service, in MiB; the median of five. */
  readonly mebibytes: number;
}

/** Starts the service and stops it again, five times. */
export async function measureStart(
  service: PreparedService,
  launch: Launch & { place: Placement },
): Promise<Start> {
  const times: number[] = [];
  const sizes: number[] = [];
  for (let start = 0; start < STARTS; start++) {
    await using server = await startService(service, launch);
    times.push(server.startTime);
    await delay(REST, undefined, { signal: launch.signal });
    sizes.push(server.residentBytes() / 2 ** 20);
  }
  return { milliseconds: median(times), mebibytes: median(sizes) };
}

export function startLines({ milliseconds, mebibytes }: Start): string {
  return `start to ready  ${milliseconds.toFixed(0)} ms\nidle memory     ${mebibytes.toFixed(0)} MiB`;
}
