import { randomInt } from 'node:crypto';
import type { Account } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import { parseExactJson } from '../domain/parse.ts';
import { ownCommand, requireValue } from '../terminal/command.ts';
import type { OrderRepository } from '../resources/orders/repository.ts';
import type { Pet } from '../resources/pets/schema.ts';
import { AuditedRun } from '../resources/audit/audited-run.ts';
import { committedIds } from './category-ids.ts';
import type { CommandContext, ProgramTerminal } from './context.ts';
import { INVENTED_CATEGORIES, inventPets, randomNumbers } from './invented-pets.ts';
import { DEFAULT_ACCOUNT } from '../resources/accounts/rules.ts';
import { wholeNumber } from '../terminal/parsers.ts';
import { argument, flag, option } from '../terminal/takers.ts';
import { view } from '../terminal/view.ts';
import type { System } from '../terminal/output.ts';
import { readPages } from '../terminal/pages.ts';
import { Progress } from '../terminal/progress.ts';
import type { SeededUsage, UsageSettings } from './seed-usage.ts';

/** How an order ends, chosen at random. */
const ENDS = ['pending', 'pending', 'complete', 'complete', 'cancelled'] as const;

const COUNT_MAX = 100_000_000;

/** The generator has 32 bits of state. */
const RANDOM_SEED_MAX = 2 ** 32 - 1;

const NOTES = `The animals belong to twelve invented categories, which the command makes unless they exist. Their photos are
addresses below https://photos.example/, where nothing is. --orders makes orders of
the newest available animals: some stay pending, some are completed, some are cancelled. They belong to the account in
--account, or to the account "default", which the command makes if there is none.

--usage invents 30 days of requests for each key that has no usage before today, so that the history has something to
show. Invented requests take nothing from a limit, and the history cannot tell them from real ones.`;

export const seedCommand = ownCommand('seed', {
  description: 'add invented animals and usage, to try the service out and for benchmarks',
  takes: {
    count: argument('[count]', 'how many animals', wholeNumber(1, COUNT_MAX)),
    randomSeed: option(
      '<number>',
      'the same number gives the same animals, and the same usage in the same hour',
      wholeNumber(0, RANDOM_SEED_MAX),
    ),
    orders: option(
      '<number>',
      'also make orders, at most one for each animal that is added as available',
      wholeNumber(1, COUNT_MAX),
    ),
    account: option('<name>', 'the account of the orders; it must exist'),
    usage: flag('also invent a month of usage for the keys that exist'),
  },
  notes: NOTES,
  examples: ['petstore seed 1000 --orders 100 --random-seed 7', 'petstore seed --usage'],
  run: async (
    { count = 0, randomSeed = randomInt(RANDOM_SEED_MAX), orders = 0, account: name, usage },
    { system: { stderr }, withSilentStore }: ProgramTerminal,
  ) => {
    if (count === 0 && !usage)
      throw new ServiceError('invalid_parameter', 'seed needs a number of animals, or --usage.');
    if (name !== undefined && orders === 0)
      throw new ServiceError(
        'invalid_parameter',
        '--account is the account of orders, so it needs --orders.',
      );
    await refuseTooManyOrders(orders, count, randomSeed);
    return withSilentStore(async ({ config, clock, store, actor }) => {
      // First, because a mistyped name adds nothing.
      const account = orders === 0 ? undefined : await findAccount({ store, actor }, name);
      if (account !== undefined) await requireFree(store.orders, account);
      const target = { kind: 'pets', name: String(count) } as const;
      const run = new AuditedRun(store.audit, actor, 'seed', target);
      await run.start();
      const used = usage && (await addUsage({ store, clock, stderr, randomSeed, ...config }));
      const added = count === 0 ? 0 : await seedPets({ clock, store, actor, stderr }, count, randomSeed);
      const ordered =
        account &&
        (await seedOrders({ clock, store, actor, stderr }, account, orders, randomNumbers(randomSeed)));
      await run.end({ animals: added, orders: ordered ?? 0, requests: used?.requests ?? 0, randomSeed });
      const again = `(--random-seed ${randomSeed} gives the same again)`;
      const texts: string[] = [];
      if (used) {
        const keys = `${used.keys} ${used.keys === 1 ? 'key' : 'keys'}`;
        texts.push(`invented 30 days of usage: ${used.requests} requests of ${keys} ${again}`);
      }
      const things = `${added} animals${account ? ` and ${ordered} orders of account ${account.name}` : ''}`;
      if (added > 0) texts.push(`added ${things} ${again}`);
      return view({ added, orders: ordered ?? 0, ...(used && { usage: used }), randomSeed }, ...texts);
    });
  },
});

/** The module needs all operations of the API, and other seeds do not. */
async function addUsage(settings: UsageSettings): Promise<SeededUsage> {
  const { seedUsage } = await import('./seed-usage.ts');
  return seedUsage(settings);
}

type SeedContext = Pick<CommandContext, 'clock' | 'store' | 'actor'> & Pick<System, 'stderr'>;

async function seedPets(
  { clock, store, actor, stderr }: SeedContext,
  count: number,
  randomSeed: number,
): Promise<number> {
  const ids = committedIds(store.categories, actor);
  const categoryIds: bigint[] = [];
  for (const category of INVENTED_CATEGORIES) categoryIds.push(await ids.idOf(category));
  const progress = new Progress(stderr, clock);
  const pets = inventPets(count, randomSeed, categoryIds);
  const added = await store.pets.addAll(pets, {
    actor,
    atomic: false,
    onProgress: progress.update,
  });
  progress.clear();
  return added;
}

async function findAccount(
  { store: { accounts }, actor }: Pick<CommandContext, 'store' | 'actor'>,
  name: string | undefined,
): Promise<Account> {
  return requireValue(
    await (name === undefined ? accounts.findOrCreate(actor, DEFAULT_ACCOUNT, 'free') : accounts.find(name)),
  );
}

/** @throws ServiceError `conflict` when the account has as many open orders as it may have. */
async function requireFree(orders: OrderRepository, { id, name }: Account): Promise<void> {
  if ((await orders.countFree(id)) > 0) return;
  throw new ServiceError(
    'conflict',
    `Account ${name} has as many open orders as it may have (MAX_OPEN_ORDERS): complete or cancel some, or name another account.`,
  );
}

/**
 * Orders the newest animals that are available. Returns how many, because others may order them too. An order that would be
 * the last open one of the account is completed.
 */
async function seedOrders(
  { clock, store: { pets, orders }, actor, stderr }: SeedContext,
  account: Account,
  count: number,
  random: () => number,
): Promise<number> {
  const progress = new Progress(stderr, clock, 'orders');
  const available = readPages(async (page) => {
    const { items, next } = await pets.list({ status: 'available', ...page });
    return { items: parseExactJson(items) as readonly Pet[], next };
  });
  let made = 0;
  let free = await orders.countFree(account.id);
  try {
    for await (const page of available) {
      for (const { id: petId } of page) {
        if (made === count) return made;
        const created = await orders.create(actor, account.id, { petId });
        if ('error' in created) continue;
        const { id } = created.value;
        const chosen = ENDS[Math.floor(random() * ENDS.length)];
        const end = chosen === 'pending' && free === 1 ? 'complete' : chosen;
        if (end === 'pending') free--;
        if (end === 'complete') await orders.complete(actor, id, { accountId: account.id });
        if (end === 'cancelled') await orders.cancel(actor, id, { accountId: account.id });
        progress.update(++made);
      }
    }
    return made;
  } finally {
    progress.clear();
  }
}

/** @throws ServiceError `invalid_parameter` when fewer of the animals will be available. */
async function refuseTooManyOrders(orders: number, count: number, randomSeed: number): Promise<void> {
  let available = 0;
  if (orders === 0) return;
  const noIds = INVENTED_CATEGORIES.map(() => 0n);
  for await (const { status } of inventPets(count, randomSeed, noIds))
    if (status === 'available' && ++available === orders) return;
  const message = `Only ${available} of these animals are available, so --orders can be at most ${available}.`;
  throw new ServiceError('invalid_parameter', message);
}
