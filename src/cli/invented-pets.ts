import type { PetStatus } from '../resources/pets/rules.ts';
import type { NewPet } from '../resources/pets/schema.ts';

export const INVENTED_CATEGORIES =
  'Birds Cats Chickens Dogs Ferrets Fish Goats Hamsters Horses Rabbits Snakes Tortoises'.split(' ');

const NAMES = (
  'Ada Bello Biscuit Caramel Charlie Chloé Clover Coco Daisy Felix Finn Flocke Ginger Hazel Ivy Jasper Juno ' +
  'Kiwi Lola Luna Maple Max Milo Minka Mochi Nala Nemo Oliver Oreo Pepper Peppa Poppy Rex Rocky Rosie Ruby ' +
  'Sammy Simba Šárka Teddy Tiger Toffee Waffle Willow Yuki Ziggy'
).split(' ');

/** The statuses of ten animals. Most are available, as in a shelter, and one has no status. */
const STATUSES: readonly (PetStatus | undefined)[] = [
  ...Array<PetStatus>(5).fill('available'),
  'pending',
  ...Array<PetStatus>(3).fill('sold'),
  undefined,
];

/** `count` animals that look real, in these categories. The same `randomSeed` gives the same ones. */
export async function* inventPets(
  count: number,
  randomSeed: number,
  categoryIds: readonly bigint[],
): AsyncGenerator<NewPet> {
  const random = randomNumbers(randomSeed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  for (let i = 0; i < count; i++) {
    const name = pick(NAMES);
    const categoryId = pick(categoryIds);
    const status = pick(STATUSES);
    yield status === undefined ? { name, categoryId } : { name, categoryId, status };
  }
}

/** Tommy Ettinger's generator mulberry32: numbers from 0 to 1, the same ones for the same seed. Not for secrets. */
export function randomNumbers(randomSeed: number): () => number {
  let state = randomSeed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
