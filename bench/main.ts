import { MODES, type Outcome } from './modes.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { missingPeers } from './peers.ts';
import { isInstalled } from './placement.ts';
import { record, writeRecord } from './results.ts';

process.exitCode = await main(process.argv.slice(2), process.env);

/** Gives the exit code: 0, 1 when it failed, 2 for wrong use, 130 when interrupted. */
async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let options: Options | undefined;
  try {
    options = readOptions(args, env);
  } catch (error) {
    console.error((error as Error).message);
    return 2;
  }
  if (options === undefined) {
    console.log(USAGE);
    return 0;
  }
  const missing = whatIsMissing(options);
  if (missing !== undefined) {
    console.error(missing);
    return 1;
  }
  const interruption = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
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

/** Prints what came out, and keeps it when it is the whole of a mode. */
async function publish(options: Options, outcome: Outcome): Promise<void> {
  const { mode, json, complete } = options;
  const contents = record(options, outcome, new Date());
  const warnings = (outcome.warnings ?? []).map((warning) => `Warning: ${warning}`);
  console.log(json ? JSON.stringify(contents) : [outcome.text, ...warnings].join('\n\n'));
  if (complete && mode !== 'smoke') console.error(`\nWritten to ${await writeRecord(options, contents)}.`);
}

/** In one line, with how to get it. */
function whatIsMissing({ mode, scale, scenarios }: Options): string | undefined {
  const alone = mode === 'grow' && scale;
  if (!alone && !isInstalled('wrk')) {
    return 'The load generator wrk is missing: install it with `apt-get install wrk`.';
  }
  const hasPeers = scale || scenarios.some(({ goals }) => goals.timesBest !== undefined);
  return mode === 'throughput' && hasPeers ? missingPeers() : undefined;
}
