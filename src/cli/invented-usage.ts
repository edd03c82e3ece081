// Contract: section 8.2.
import { OPERATIONS } from '../resources/operations.ts';
import type { KeyRecord } from '../domain/account.ts';
import { DAY, HOUR } from '../domain/clock.ts';
import { OTHER_OPERATION, type UsageCount } from '../domain/usage.ts';
import { randomNumbers } from './invented-pets.ts';

/** Whole days before today. */
export const INVENTED_DAYS = 30;

/** The share of each operation in the requests of a shop. Keys without its scope leave it out. */
const SHARES: Readonly<Record<string, number>> = {
  listPets: 0.55,
  getPet: 0.12,
  createPet: 0.05,
  updatePet: 0.08,
  listCategories: 0.06,
  createOrder: 0.07,
  completeOrder: 0.05,
  [OTHER_OPERATION]: 0.02,
};

/** Requests of a key in a day. Enterprise accounts can have limits that nobody reaches. */
const MOST_A_DAY = 2_000_000;

/** The requests that a key might have sent in the last 30 days and today so far. The same seed gives the same ones. */
export function inventUsage(key: KeyRecord, randomSeed: number, now: number): readonly UsageCount[] {
  const random = randomNumbers(randomSeed ^ Math.imul(key.id, 0x9e37_79b1));
  // Some keys have moved on from the deprecated operation.
  const operations = operationsOf(key).filter(([id]) => id !== 'getPet' || key.id % 3 !== 0);
  const daily = Math.min(key.account.limits.perDay * (0.05 + 0.7 * random()), MOST_A_DAY);
  const first = Math.floor(now / DAY - INVENTED_DAYS) * (DAY / HOUR);
  const last = Math.floor(now / HOUR);
  const counts: UsageCount[] = [];
  for (let hour = first; hour <= last; hour++) {
    const requests = (daily / 12) * rhythm(hour) * (0.6 + 0.8 * random());
    // Now and then, a key calls too fast for a while, or something breaks.
    const refused = random() < 0.04 ? 0.1 + 0.4 * random() : 0;
    const broken = random() < 0.01 ? 0.05 * random() : 0;
    for (const [operation, share] of operations) {
      const total = Math.round(requests * share * (0.7 + 0.6 * random()));
      const [refusals, faults] = [Math.round(total * refused), Math.round(total * broken)];
      const mistakes = operation === OTHER_OPERATION ? total : Math.round(total * 0.02 * random());
      const ok = Math.max(0, total - refusals - faults - mistakes);
      if (total > 0)
        counts.push({ hour, keyId: key.id, operation, counts: [ok, mistakes, refusals, faults] });
    }
  }
  return counts;
}

function operationsOf({ scopes }: KeyRecord): readonly (readonly [id: string, share: number])[] {
  return Object.entries(SHARES).filter(([id]) => {
    const scope = OPERATIONS.find((operation) => operation.id === id)?.scope;
    return scope === undefined || scopes.includes(scope);
  });
}

/** From 0.1 at night to 1 in the afternoon, and less at weekends. */
function rhythm(hour: number): number {
  const ofDay = hour % 24;
  const sun = ofDay < 6 || ofDay > 22 ? 0 : Math.sin((Math.PI * (ofDay - 6)) / 16);
  const weekday = new Date(hour * HOUR).getUTCDay();
  return (0.1 + 0.9 * sun) * (weekday === 0 || weekday === 6 ? 0.4 : 1);
}
