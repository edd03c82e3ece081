import { freePort } from '../test/support/servers.ts';
import { list } from './calls.ts';
import { type BenchContext, openContext } from './context.ts';
import { count, table } from './figures.ts';
import { GOALS, under, verdict, verdictTable } from './goals.ts';
import { startInspected } from './inspector.ts';
import { issueKeyOfEach } from './keys.ts';
import { measure, writeLoad } from './load.ts';
import type { Options } from './options.ts';
import { heading, type Outcome } from './results.ts';

const ACCOUNTS = 100_000;

interface Usage {
  readonly accounts: number;
  readonly requests: number;
  /** Resident, in MiB. */
  readonly memory: number;
  readonly eventLoopDelay: EventLoopDelay;
}

/** How late the event loop was while the accounts called, in milliseconds. All requests waited as long. */
interface EventLoopDelay {
  readonly p99: number;
  readonly longest: number;
}

/** Measures the memory of 100,000 accounts, compared with one account that calls for as long. */
export async function accountsMemory(options: Options, signal: AbortSignal): Promise<Outcome> {
  await using context = await openContext(signal);
  const one = await measureAccounts(context, 1, options);
  const many = await measureAccounts(context, ACCOUNTS, options);
  const what = `MiB that ${count(ACCOUNTS)} accounts take`;
  const verdicts = [verdict(what, under, GOALS.memory.memory, many.memory - one.memory)];
  const head = ['accounts', 'requests', 'MiB resident', 'event loop p99 ms late', 'longest'];
  const lines = [one, many].map(({ accounts, requests, memory, eventLoopDelay: { p99, longest } }) =>
    [accounts, requests, memory, p99, longest].map(count),
  );
  return {
    result: { one, many, verdicts },
    text: [heading(options), table([head, ...lines]), verdictTable(verdicts)].join('\n\n'),
    warnings: context.warnings,
  };
}

/** Starts a service, which this number of accounts calls in turn. */
async function measureAccounts(
  context: BenchContext,
  accounts: number,
  { animals, seconds }: Options,
): Promise<Usage> {
  const METRICS_PORT = `${await freePort()}`;
  const prepared = await context.prepare(animals);
  const keys = accounts === 1 ? [prepared.key] : await issueKeyOfEach(prepared.env, accounts, context.signal);
  const env = { ...prepared.env, METRICS_PORT };
  await using server = await startInspected({ ...prepared, env }, context);
  const calls = keys.map((key) => list(key));
  const load = await writeLoad(prepared, calls);
  console.error(`${count(accounts)} accounts call …`);
  // Each reading resets the metric, so this one leaves out the start.
  await readEventLoopDelay(METRICS_PORT);
  const { requests } = await measure(server, load, seconds, context);
  const eventLoopDelay = await readEventLoopDelay(METRICS_PORT);
  if (requests < accounts) {
    throw new Error(`Only ${requests} of ${accounts} accounts called: give more --seconds.`);
  }
  return { accounts, requests, memory: await server.usedMemory(), eventLoopDelay };
}

async function readEventLoopDelay(port: string): Promise<EventLoopDelay> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const milliseconds = (name: string) => {
    const line = new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(metrics);
    if (line === null)
      throw new Error(`The metrics of the service lack nodejs_eventloop_lag_${name}_seconds.`);
    return Number(line[1]) * 1000;
  };
  return { p99: milliseconds('p99'), longest: milliseconds('max') };
}
