import { growth } from './growth.ts';
import { memory } from './memory.ts';
import { type Mode, type Options, readOptions, USAGE } from './options.ts';
import { missingPeer } from './peers.ts';
import { isInstalled } from './placement.ts';
import { type Outcome, record, writeRecord } from './results.ts';
import { smoke } from './smoke.ts';
import { soak } from './soak.ts';
import { throughput } from './throughput.ts';

const MODES: Readonly<Record<Mode, (options: Options, signal: AbortSignal) => Promise<Outcome>>> = {
  throughput,
  grow: growth,
  memory,
  soak,
  smoke,
};

process.exitCode = await main(process.argv.slice(2));

/** Returns the exit code: 0, 1 after a failure, 2 after wrong use, 130 after an interruption. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options | undefined;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
  if (options === undefined) {
    console.log(USAGE);
    return 0;
  }
  const missing = missingPart(options);
  if (missing !== undefined) {
    console.error(missing);
    return 1;
  }
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => interruption.abort());
  try {
    const outcome = await MODES[options.mode](options, interruption.signal);
    await publish(options, outcome);
    return outcome.failed === true ? 1 : 0;
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    console.error(`The benchmark failed: ${(error as Error).message}`);
    return 1;
  }
}

/** Prints the outcome, and writes it to the results if the run was complete. */
async function publish(options: Options, outcome: Outcome): Promise<void> {
  const { mode, complete } = options;
  const contents = record(options, outcome, new Date());
  const warnings = (outcome.warnings ?? []).map((warning) => `Warning: ${warning}`);
  console.log([outcome.text, ...warnings].join('\n\n'));
  if (complete && mode !== 'smoke') console.error(`\nWritten to ${await writeRecord(options, contents)}.`);
}

/** The program that must be installed first, and how, in one line. */
function missingPart({ mode, scale, scenarios }: Options): string | undefined {
  if (!isInstalled('wrk')) {
    return 'The load generator wrk is missing: install it with `apt-get install wrk`.';
  }
  const hasPeer = scenarios.some((each) => (scale ? each.scaleGoals : each.goals)?.times !== undefined);
  return mode === 'throughput' && hasPeer ? missingPeer() : undefined;
}
