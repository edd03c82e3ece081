import { list } from './calls.ts';
import { type EventLoopDelay, withMetrics } from './event-loop.ts';
import { atMost, GOALS, verdict, verdictTable } from './goals.ts';
import { type Memory, startInspected } from './inspected.ts';
import { issueKeyOfEach } from './keys.ts';
import { measure, writeRequests } from './load.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { settingLine } from './setting.ts';
import { openSurroundings, type Surroundings } from './surroundings.ts';
import { aligned, count } from './table.ts';

const ACCOUNTS = 100_000;

interface Weighed {
  readonly accounts: number;
  readonly requests: number;
  readonly memory: Memory;
  /** While they called. */
  readonly eventLoopDelay: EventLoopDelay;
}

/** What 100,000 accounts that called take of memory, beside one account that called as long. */
export async function accountsMemory(options: Options, signal: AbortSignal): Promise<Outcome> {
  await using around = await openSurroundings(signal);
  const one = await weigh(around, 1, options);
  const many = await weigh(around, ACCOUNTS, options);
  const more = many.memory.resident - one.memory.resident;
  const verdicts = [verdict(`MiB that ${count(ACCOUNTS)} accounts take`, atMost, GOALS.memory.memory, more)];
  return {
    result: { one, many, verdicts },
    text: [settingLine(options), table([one, many]), verdictTable(verdicts)].join('\n\n'),
    warnings: around.warnings,
  };
}

/** A service of its own, called by so many accounts in turn. */
async function weigh(
  around: Surroundings,
  accounts: number,
  { animals, seconds }: Pick<Options, 'animals' | 'seconds'>,
): Promise<Weighed> {
  const { place, signal } = around;
  const { prepared, delay } = await withMetrics(await around.prepare(animals));
  console.error(`Issuing ${count(accounts)} ${accounts === 1 ? 'key' : 'keys'} …`);
  const keys = accounts === 1 ? [prepared.key] : await issueKeyOfEach(prepared.env, accounts, signal);
  await using server = await startInspected(prepared, around);
  const calls = keys.map((key) => list(key));
  const file = await writeRequests(prepared.folder, calls, new URL(server.url).host);
  console.error('Calling …');
  // From here on: the start does not count.
  await delay();
  const { requests } = await measure(server, file, { seconds, place, signal });
  const eventLoopDelay = await delay();
  if (requests < accounts) {
    throw new Error(`Only ${requests} of ${accounts} accounts called: give more --seconds.`);
  }
  return { accounts, requests, memory: await server.memory(signal), eventLoopDelay };
}

function table(weighed: readonly Weighed[]): string {
  const head = [
    'accounts',
    'requests',
    'MiB resident',
    'of them not files',
    'event loop p99 ms late',
    'longest',
  ];
  const lines = weighed.map(({ accounts, requests, memory, eventLoopDelay: { p99, longest } }) => [
    count(accounts),
    count(requests),
    memory.resident.toFixed(0),
    memory.anonymous.toFixed(0),
    p99.toFixed(0),
    longest.toFixed(0),
  ]);
  return aligned([head, ...lines]);
}
