import { list } from './calls.ts';
import { type BenchContext, openContext } from './context.ts';
import { count } from './figures.ts';
import { GOALS, under, verdict } from './goals.ts';
import { openIdle } from './idle-connections.ts';
import { startInspected } from './inspector.ts';
import { issueKeyOfEach } from './keys.ts';
import { measure, writeLoad } from './load.ts';
import type { Options } from './options.ts';
import { type Outcome, outcomeOf } from './results.ts';

const ACCOUNTS = 100_000;
const CONNECTIONS = 10_000;

/**
 * Measures the memory of 100,000 accounts, compared with one account that calls for as long, and that of 10,000 idle
 * connections.
 */
export async function memory(options: Options, signal: AbortSignal): Promise<Outcome> {
  await using context = await openContext(signal);
  const one = await measureAccounts(context, 1, options);
  const many = await measureAccounts(context, ACCOUNTS, options);
  const goals = GOALS.memory;
  const verdicts = [
    verdict(`MiB that ${count(ACCOUNTS)} accounts take`, under, goals.accounts, many.memory - one.memory),
    verdict(`MiB that ${count(CONNECTIONS)} connections take`, under, goals.connections, one.connections),
  ];
  return outcomeOf(options, context, verdicts, { one, many });
}

/** Starts a service, which this number of accounts calls in turn. Memory is in MiB. */
async function measureAccounts(context: BenchContext, accounts: number, { animals, seconds }: Options) {
  const prepared = await context.prepare(animals);
  const { key } = prepared;
  const keys = accounts === 1 ? [key] : await issueKeyOfEach(prepared.env, accounts, context.signal);
  const env = { ...prepared.env, MAX_CONNECTIONS_PER_ADDRESS: `${2 * CONNECTIONS}` };
  await using server = await startInspected({ ...prepared, env }, context);
  const calls = keys.map((each) => list(each));
  const load = await writeLoad(prepared, calls);
  console.error(`${count(accounts)} accounts call …`);
  const { requests } = await measure(server, load, seconds, context);
  if (requests < accounts) {
    throw new Error(`Only ${requests} of ${accounts} accounts called: give more --seconds.`);
  }
  const used = await server.usedMemory();
  // The end of the headers is the end of the answer, because HEAD has no body.
  const close = await openIdle(server.url, { ...list(key), method: 'HEAD' }, CONNECTIONS);
  const connections = (await server.usedMemory()) - used;
  close();
  return { accounts, requests, memory: used, connections };
}
