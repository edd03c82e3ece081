import type { NewPet, PetStatus } from '../domain/pet.ts';

const NAMES = (
  'Ada Bello Biscuit Caramel Charlie Chloé Clover Coco Daisy Felix Finn Flocke Ginger Hazel Ivy Jasper Juno ' +
  'Kiwi Lola Luna Maple Max Milo Minka Mochi Nala Nemo Oliver Oreo Pepper Peppa Poppy Rex Rocky Rosie Ruby ' +
  'Sammy Simba Šárka Teddy Tiger Toffee Waffle Willow Yuki Ziggy'
).split(' ');

/** As common as in a shelter: most are available, and of some nothing is known. */
const STATUSES: readonly (PetStatus | undefined)[] = [
  'available',
  'available',
  'available',
  'available',
  'available',
  'pending',
  'sold',
  'sold',
  'sold',
  undefined,
];

const CATEGORIES = 12;

/** `count` animals that look real; the same `seed` (0 to 2^32 − 1) gives the same ones. */
export async function* inventPets(count: number, seed: number): AsyncGenerator<NewPet> {
  const random = mulberry32(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  for (let i = 0; i < count; i++) {
    const name = pick(NAMES);
    const categoryId = BigInt(1 + Math.floor(random() * CATEGORIES));
    const status = pick(STATUSES);
    yield status === undefined ? { name, categoryId } : { name, categoryId, status };
  }
}

/** Tommy Ettinger's generator: numbers from 0 to 1, the same ones for the same seed. Nothing secret hangs on it. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
