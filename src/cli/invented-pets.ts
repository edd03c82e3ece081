import { DAY } from '../domain/clock.ts';
import { textFromInstant } from '../domain/instant.ts';
import { type PetStatus, SEXES } from '../resources/pets/rules.ts';
import type { NewPet } from '../resources/pets/schema.ts';

type Size = NonNullable<NewPet['size']>;

/** What the animals of a category may be: their breeds, and their sizes. */
interface Kind {
  readonly breeds: readonly string[];
  readonly sizes: readonly Size[];
}

const list = (text: string) => text.split(', ');

const SMALL: readonly Size[] = ['small'];
const LARGE: readonly Size[] = ['large', 'extra_large'];

/** The categories of invented animals. */
const KINDS: Readonly<Record<string, Kind>> = {
  Birds: { breeds: list('Budgerigar, Canary, Cockatiel, Zebra Finch'), sizes: SMALL },
  Cats: { breeds: list('Domestic Shorthair, Maine Coon, Ragdoll, Siamese'), sizes: ['small', 'medium'] },
  Chickens: { breeds: list('Araucana, Brahma, Leghorn, Sussex'), sizes: SMALL },
  Dogs: {
    breeds: list('Beagle, Border Collie, Dachshund, German Shepherd, Great Dane, Labrador Retriever'),
    sizes: ['small', 'medium', 'large', 'extra_large'],
  },
  Ferrets: { breeds: list('Angora, Domestic'), sizes: SMALL },
  Fish: { breeds: list('Betta, Goldfish, Guppy, Koi'), sizes: SMALL },
  Goats: { breeds: list('Boer, Nigerian Dwarf, Saanen'), sizes: ['medium', 'large'] },
  Hamsters: { breeds: list('Campbell, Roborovski, Syrian'), sizes: SMALL },
  Horses: { breeds: list('Arabian, Haflinger, Icelandic, Shetland'), sizes: LARGE },
  Rabbits: { breeds: list('Dutch, Flemish Giant, Holland Lop, Rex'), sizes: ['small', 'medium'] },
  Snakes: { breeds: list('Ball Python, Corn Snake, Milk Snake'), sizes: ['medium', 'large'] },
  Tortoises: { breeds: list('Hermann, Russian, Sulcata'), sizes: ['small', 'medium', 'large'] },
};

export const INVENTED_CATEGORIES = Object.keys(KINDS);

const COLORS = list('Black, Black and white, Brown, Cream, Golden, Gray, Orange, Spotted, Tricolor, White');

const TRAITS = list('Calm, Curious, Gentle, Lively, Playful, Shy at first');

const LIKES = list('being brushed, company, long naps, quiet evenings, the sun, treats');

const TAGS = list('easy to feed, good with cats, good with children, good with dogs, neutered, vaccinated');

/** The first and the last day of birth, so that the same seed gives the same animals on every day. */
const BORN = { first: Date.UTC(2012, 0, 1), days: 5_000 };

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

/** Of ten animals, how many have a field that not every animal has. */
const OFTEN = 8;
const SOMETIMES = 4;

/**
 * `count` animals that look real, in these categories: the ids of `INVENTED_CATEGORIES`, in their order. The same `randomSeed`
 * gives the same ones. They have no references, because the next seed would give the same ones again.
 */
export async function* inventPets(
  count: number,
  randomSeed: number,
  categoryIds: readonly bigint[],
): AsyncGenerator<NewPet> {
  const random = randomNumbers(randomSeed);
  const drawn = (end: number) => Math.floor(random() * end);
  const pick = <T>(items: readonly T[]): T => items[drawn(items.length)] as T;
  // Draws in both cases, so that a field does not change those behind it.
  const perhaps = <T>(often: number, value: T): T | undefined => (drawn(10) < often ? value : undefined);
  for (let i = 0; i < count; i++) {
    const name = pick(NAMES);
    const kind = drawn(INVENTED_CATEGORIES.length);
    const category = INVENTED_CATEGORIES[kind] as string;
    const { breeds, sizes } = KINDS[category] as Kind;
    const status = pick(STATUSES);
    const sex = pick(SEXES);
    const photo = `https://photos.example/${category.toLowerCase()}/${drawn(1_000)}`;
    const tags = TAGS.slice(drawn(TAGS.length));
    const day = textFromInstant(BORN.first + drawn(BORN.days) * DAY).slice(0, 10);
    yield withoutUndefined({
      name,
      categoryId: categoryIds[kind] ?? 0n,
      status,
      description: perhaps(OFTEN, `${pick(TRAITS)}, and fond of ${pick(LIKES)}.`),
      breed: perhaps(OFTEN, pick(breeds)),
      sex: perhaps(OFTEN, sex),
      size: perhaps(OFTEN, pick(sizes)),
      color: perhaps(OFTEN, pick(COLORS)),
      birthDate: perhaps(OFTEN, day),
      photoUrls: perhaps(SOMETIMES, [`${photo}-front.jpg`, `${photo}-side.jpg`].slice(drawn(2))),
      tags: perhaps(SOMETIMES, tags.slice(0, 1 + drawn(3))),
    });
  }
}

type Drawn = { readonly [Field in keyof NewPet]: NewPet[Field] | undefined };

function withoutUndefined(pet: Drawn): NewPet {
  return Object.fromEntries(Object.entries(pet).filter(([, value]) => value !== undefined)) as NewPet;
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
