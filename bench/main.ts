import { missingPeers } from './conventional.ts';
import { MODES } from './modes.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { isInstalled } from './placement.ts';
import { throughput } from './throughput.ts';

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
    console.log(await report(options, interruption.signal));
    return 0;
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    console.error(`The benchmark failed: ${(error as Error).message}`);
    return 1;
  }
}

async function report(options: Options, signal: AbortSignal): Promise<string> {
  if (options.mode === undefined) return throughput(options, signal);
  const { result, text } = await MODES[options.mode](options, signal);
  return options.json ? JSON.stringify(result) : text;
}

/** In one line, with how to get it. */
function whatIsMissing({ mode, scale }: Options): string | undefined {
  const alone = mode === 'grow' && scale;
  if (!alone && !isInstalled('wrk')) {
    return 'The load generator wrk is missing: install it with `apt-get install wrk`.';
  }
  return scale && !alone ? missingPeers() : undefined;
}
