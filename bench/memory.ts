import { setTimeout as delay } from 'node:timers/promises';
import { list } from './calls.ts';
import { type Memory, startInspected } from './inspected.ts';
import { writeRequests } from './load.ts';
import { addAccounts } from './memory-accounts.ts';
import type { Outcome } from './modes.ts';
import type { Options } from './options.ts';
import { answerOf, type BenchRequest } from './request.ts';
import { machine } from './setting.ts';
import { median } from './statistics.ts';
import { type Surroundings, surroundings } from './surroundings.ts';
import { aligned, count } from './table.ts';
import { atMost, verdictTable } from './verdict.ts';

const ACCOUNTS = 100_000;
const ANIMALS = 10_000;

/** Between two requests of the probe, in milliseconds. */
const PAUSE = 5;

/** How many MiB the accounts may take. */
const GOAL = 60;

interface Weighed {
  readonly accounts: number;
  readonly requests: number;
  readonly memory: Memory;
  /** Latencies of a probe beside the load, in milliseconds: they show what holds the service up. */
  readonly probe: { readonly median: number; readonly longest: number };
}

/** What 100,000 accounts that called take of memory, beside one account that called as often. */
export async function accountsMemory({ seconds }: Options, signal: AbortSignal): Promise<Outcome> {
  await using around = await surroundings(signal);
  const one = await weigh(around, 1, seconds);
  const many = await weigh(around, ACCOUNTS, seconds);
  const more = many.memory.resident - one.memory.resident;
  const verdicts = [atMost(`MiB that ${count(ACCOUNTS)} accounts take`, more, GOAL)];
  const { warnings } = around;
  return {
    result: { ...machine(), warnings, seconds, one, many, verdicts },
    text: [
      table([one, many]),
      verdictTable(verdicts),
      ...warnings.map((warning) => `Warning: ${warning}`),
    ].join('\n\n'),
  };
}

/** A service of its own, called by so many accounts in turn. */
async function weigh(around: Surroundings, accounts: number, seconds: number): Promise<Weighed> {
  const prepared = await around.prepare(ANIMALS);
  console.error(`Making ${count(accounts)} accounts …`);
  const keys =
    accounts === 1 ? [prepared.key] : await addAccounts(prepared.database, accounts, around.signal);
  await using server = await startInspected(prepared, around);
  const file = await writeRequests(prepared.folder, keys.map(list), new URL(server.url).host);
  console.error('Calling …');
  const over = new AbortController();
  const latencies = probe(server.url, list(prepared.key), over.signal);
  const { requests } = await around.load(server, file, seconds);
  over.abort();
  if (requests < accounts) {
    throw new Error(`Only ${requests} of ${accounts} accounts called: give more --seconds.`);
  }
  const waited = await latencies;
  return {
    accounts,
    requests,
    memory: await server.memory(around.signal),
    probe: { median: median(waited), longest: Math.max(...waited) },
  };
}

/** Sends one request after the other until the signal. Gives their latencies, in milliseconds. */
async function probe(url: string, request: BenchRequest, over: AbortSignal): Promise<number[]> {
  const latencies: number[] = [];
  while (!over.aborted) {
    const begin = performance.now();
    await answerOf(url, request);
    latencies.push(performance.now() - begin);
    await delay(PAUSE);
  }
  return latencies;
}

function table(weighed: readonly Weighed[]): string {
  const head = [
    'accounts',
    'requests',
    'MiB resident',
    'of them not files',
    'in JavaScript',
    'probe median ms',
    'longest ms',
  ];
  const lines = weighed.map(({ accounts, requests, memory, probe: { median: usual, longest } }) => [
    count(accounts),
    count(requests),
    memory.resident.toFixed(0),
    memory.anonymous.toFixed(0),
    memory.heap.toFixed(1),
    usual.toFixed(1),
    longest.toFixed(1),
  ]);
  return aligned([head, ...lines]);
}
