import { OUTCOMES, type UsageOutcome } from '../../src/domain/usage.ts';
import { outcomeIndex } from '../../src/observability/key-usage.ts';
import { DAY } from '../../src/domain/clock.ts';
import type { Store } from '../../src/resources/repositories.ts';
import { issueKey, type IssuedKey } from './instances.ts';
import { each, keepAliveClient } from './load.ts';
import { runJson, type RunningService, type Variables } from './process.ts';

export type Numbers = Readonly<Record<UsageOutcome, number>>;
/** Requests by what they are grouped by. */
export type Sums = Record<string, Record<UsageOutcome, number>>;

/** The requests by key and by operation, as the history has them or as the clients saw them. */
export interface Tally {
  readonly key: Sums;
  readonly operation: Sums;
}

const BODY = '{"name":"Rex","categoryId":7}';

/** Requests of clients, with the operation that each counts for. The key and the limits decide the outcome. */
const REQUESTS = [
  { path: '/v1/pets', operation: 'listPets' },
  { path: '/v1/pets', body: BODY, operation: 'createPet' },
  { path: '/v1/pets', body: '{}', operation: 'createPet' },
  { path: '/v1/pets/99999999', operation: 'getPet' },
  { path: '/v1/categories', operation: 'listCategories' },
  { path: '/v1/nothing', operation: 'other' },
] as const;

/** Two keys with all scopes, one that may only read, and one whose account is soon beyond its limits. */
export async function issueKeys(variables: Variables): Promise<readonly IssuedKey[]> {
  const keys: IssuedKey[] = [];
  for (const order of [
    { account: 'shop' },
    { account: 'shop' },
    { account: 'shop', scopes: ['pets:read'] },
    { account: 'small', limits: { perMinute: 1_000_000_000, perDay: 40 } },
  ] as const)
    keys.push(await issueKey(variables, order));
  return keys;
}

export function emptyTally(): Tally {
  return { key: {}, operation: {} };
}

/** Sends random requests to the services in turn, and adds what became of each one to the tally. */
export async function sendRandom(
  services: readonly RunningService[],
  keys: readonly IssuedKey[],
  { count, random, tally }: { readonly count: number; readonly random: () => number; readonly tally: Tally },
): Promise<void> {
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
  const clients = services.map(({ url }) =>
    keys.map(({ id, key }) => ({ id, ...keepAliveClient(url, key, 10) })),
  );
  const plan = Array.from({ length: count }, () => ({ client: pick(pick(clients)), asked: pick(REQUESTS) }));
  try {
    await each(plan, 30, async ({ client, asked }) => {
      const { status } = await client.send(asked.path, 'body' in asked ? asked.body : undefined);
      const outcome = OUTCOMES[outcomeIndex(status)] ?? 'ok';
      countOne(tally.key, String(client.id), outcome);
      countOne(tally.operation, asked.operation, outcome);
    });
  } finally {
    for (const client of clients.flat()) client.close();
  }
}

/** The history of the last two days, as the command line shows it. */
export async function showTally(variables: Variables): Promise<Tally> {
  const read = async (by: 'key' | 'operation') =>
    sumsOf(await runJson<readonly Row[]>(['usage', '--by', by, '--since', '2d'], variables));
  return { key: await read('key'), operation: await read('operation') };
}

/** The same, read without the command line. */
export async function readTally({ usageHistory }: Store): Promise<Tally> {
  const range = {
    interval: 'day',
    from: Date.now() - 2 * DAY,
    to: Date.now(),
    accountId: undefined,
  } as const;
  return {
    key: sumsOf(await usageHistory.sums({ ...range, by: 'key' })),
    operation: sumsOf(await usageHistory.sums({ ...range, by: 'operation' })),
  };
}

type Row = Numbers & { readonly keyId?: number; readonly operation?: string };

function sumsOf(rows: readonly Row[]): Sums {
  return Object.fromEntries(
    rows.map(({ keyId, operation, ok, clientError, refused, serverError }) => [
      String(keyId ?? operation),
      { ok, clientError, refused, serverError },
    ]),
  );
}

export function requestsIn(sums: Sums): number {
  return Object.values(sums)
    .flatMap((numbers) => Object.values(numbers))
    .reduce((sum, count) => sum + count, 0);
}

function countOne(sums: Sums, name: string, outcome: UsageOutcome): void {
  const its = (sums[name] ??= { ok: 0, clientError: 0, refused: 0, serverError: 0 });
  its[outcome]++;
}
