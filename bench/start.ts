import { setTimeout as delay } from 'node:timers/promises';
import { median } from './figures.ts';
import type { RunContext } from './processes.ts';
import { type PreparedService, startService } from './service.ts';

const STARTS = 5;

/** Milliseconds without a request after which Node.js has collected the garbage of the start. */
const SETTLE_TIME = 3_000;

/** Medians of five starts. */
export interface Start {
  /** Milliseconds from the start of the process to its first 200 at /readyz. */
  readonly milliseconds: number;
  /** Resident memory of the idle service, in MiB. */
  readonly mebibytes: number;
}

export async function measureStart(service: PreparedService, context: RunContext): Promise<Start> {
  console.error('Measuring start …');
  const times: number[] = [];
  const sizes: number[] = [];
  while (times.length < STARTS) {
    await using server = await startService(service, context);
    times.push(server.startTime);
    await delay(SETTLE_TIME, undefined, { signal: context.signal });
    sizes.push(server.residentMemory());
  }
  return { milliseconds: median(times), mebibytes: median(sizes) };
}
