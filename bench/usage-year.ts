import { DAY } from '../src/domain/clock.ts';
import { KEPT } from '../src/resources/usage/rules.ts';
import type { Value } from '../src/storage/sql.ts';
import type { Filling } from '../src/storage/engine.ts';
import type { Store } from '../src/resources/repositories.ts';
import { ACCOUNTS } from '../src/resources/accounts/repository.ts';
import { KEYS } from '../src/resources/keys/table.ts';
import { USAGE_DAYS, USAGE_RECENT, USAGE_TOTALS } from '../src/resources/usage/table.ts';
import type { AnyTable } from '../src/storage/table.ts';

export const YEAR = 365;

/** How accounts call: on which share of days, in how many hours a day, with which operations. */
const KINDS = [
  { accounts: 700, days: 0.33, hours: 2, operations: ['listPets', 'getPet'] },
  { accounts: 250, days: 1, hours: 16, operations: ['listPets', 'createOrder', 'completeOrder'] },
  {
    accounts: 50,
    days: 1,
    hours: 24,
    operations: ['listPets', 'createPet', 'updatePet', 'createOrder', 'completeOrder', 'other'],
  },
] as const;

/** Keys of an account that follow each other in a year. A further key is used for an hour each night. */
const SUCCESSIVE = 3;
const KEYS_EACH = SUCCESSIVE + 1;

interface Key {
  readonly id: number;
  readonly accountId: number;
  readonly number: number;
  readonly kind: (typeof KINDS)[number];
}

/** Fills an empty store with a year of usage that ends today. `now` is in Unix milliseconds. */
export async function inventYear({ database }: Store, now: number): Promise<void> {
  const kinds = KINDS.flatMap((kind) => Array.from({ length: kind.accounts }, () => kind));
  const keys = kinds.flatMap((kind, account) =>
    Array.from({ length: KEYS_EACH }, (_, number): Key => {
      const id = account * KEYS_EACH + number + 1;
      return { id, accountId: account + 1, number, kind };
    }),
  );
  await database.fill(async (filling) => {
    await insert(
      filling,
      ACCOUNTS,
      kinds.map((_, index) => [index + 1, `a${index + 1}`, 'pro', null, null, 0, `a${index + 1}`, null]),
    );
    await insert(
      filling,
      KEYS,
      keys.map(({ id, accountId }) => {
        const settings = ['production', null, 'pets:read', 0, null, null, null, null, null];
        return [id, accountId, `hash ${id}`, ...settings];
      }),
    );
    await inventDays(filling, keys, Math.floor(now / DAY));
  });
}

async function inventDays(filling: Filling, keys: readonly Key[], today: number): Promise<void> {
  const random = randomNumbers(7);
  for (let day = today - YEAR + 1; day <= today; day++) {
    const days: Value[][] = [];
    const hours: Value[][] = [];
    const totals = new Map<string, number[]>();
    const inUse = Math.floor(((day - today + YEAR - 1) / YEAR) * SUCCESSIVE);
    for (const { id, number, kind } of keys) {
      const isJob = number === SUCCESSIVE;
      if ((!isJob && number !== inUse) || random() > kind.days) continue;
      const length = isJob ? 1 : kind.hours;
      for (const operation of kind.operations) {
        const ofDay = [0, 0, 0, 0];
        for (let index = 0; index < length; index++) {
          const hour = day * 24 + (isJob ? 2 : 24 - length + index);
          const counts = inventCounts(random);
          hours.push([id, hour, operation, ...counts]);
          addTo(ofDay, counts);
          const total = totals.get(`${hour} ${operation}`) ?? [0, 0, 0, 0];
          totals.set(`${hour} ${operation}`, total);
          addTo(total, counts);
        }
        days.push([id, day, operation, ...ofDay]);
      }
    }
    if (day > today - KEPT.hour / DAY) await insert(filling, USAGE_RECENT, hours);
    await insert(filling, USAGE_DAYS, days);
    const rows = [...totals].map(([name, counts]) => {
      const [hour = '', operation = ''] = name.split(' ');
      return (['production', Number(hour), operation] as Value[]).concat(counts);
    });
    await insert(filling, USAGE_TOTALS, rows);
  }
}

/** Requests of an hour, of which few fail. */
function inventCounts(random: () => number): readonly number[] {
  const few = (share: number, most: number) => (random() < share ? Math.floor(random() * most) : 0);
  return [few(1, 400), few(0.3, 9), few(0.05, 90), few(0.01, 2)];
}

function addTo(sum: number[], added: readonly number[]): void {
  for (const [index, count] of added.entries()) sum[index] = (sum[index] ?? 0) + count;
}

async function insert(filling: Filling, table: AnyTable, rows: readonly (readonly Value[])[]): Promise<void> {
  for (let from = 0; from < rows.length; from += 10_000)
    await filling.insert(table, rows.slice(from, from + 10_000));
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
