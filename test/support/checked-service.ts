import { randomBytes } from 'node:crypto';
import { type Report, runChecks, type RunOptions } from '../../src/conformance/run.ts';
import type { FakeClock } from './clock.ts';

/** The promises of a report that are in this state, as `3.2 an invalid limit is 400, and never clamped`. */
export function listPromises(report: Report, state: 'kept' | 'broken' | 'not checked'): readonly string[] {
  return report.outcomes
    .filter((outcome) => outcome.state === state)
    .map(({ section, promise }) => `${section} ${promise}`);
}

/** Compares the service at `url` with the contract. Whoever waits moves the clock of the service. */
export function checkService(
  url: string,
  key: string,
  clock: FakeClock,
  options: Partial<RunOptions> = {},
): Promise<Report> {
  return runChecks({
    base: new URL(`${url}/v1`),
    key,
    writes: true,
    clock,
    wait: async (milliseconds) => clock.advance(milliseconds),
    random: randomBytes,
    signal: new AbortController().signal,
    ...options,
  });
}
