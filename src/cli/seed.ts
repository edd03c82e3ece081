import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import type { NewPet, PetStatus } from '../domain/pet.ts';
import { withNewStore } from './context.ts';
import { JSON_OPTION, type JsonOption, wholeNumber } from './options.ts';
import { printJson, printLine } from './output.ts';
import { Progress } from './progress.ts';

/** The generator has 32 bits of state. */
const RANDOM_SEED_MAX = 2 ** 32 - 1;

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

const CATEGORIES = 12;

export function seedCommand(program: Command): void {
  program
    .command('seed')
    .argument('<count>', 'how many', wholeNumber(1, 100_000_000))
    .description('add invented animals, to try the service out and for benchmarks')
    .option(
      '--random-seed <number>',
      'the same number gives the same animals',
      wholeNumber(0, RANDOM_SEED_MAX),
    )
    .option(...JSON_OPTION)
    .action(seed);
}

function seed(
  count: number,
  { randomSeed = randomInt(RANDOM_SEED_MAX), json }: JsonOption & { randomSeed?: number },
): Promise<void> {
  return withNewStore(async ({ clock, store }) => {
    const progress = new Progress(process.stderr, clock);
    const pets = inventPets(count, randomSeed);
    const added = await store.archive.addAll(pets, { atomic: false, onProgress: progress.update });
    progress.clear();
    if (json) printJson({ added, randomSeed });
    else printLine(`added ${added} animals (--random-seed ${randomSeed} gives the same again)`);
  });
}

/** `count` animals that look real. The same `randomSeed` gives the same ones. */
async function* inventPets(count: number, randomSeed: number): AsyncGenerator<NewPet> {
  const random = mulberry32(randomSeed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  for (let i = 0; i < count; i++) {
    const name = pick(NAMES);
    const categoryId = BigInt(1 + Math.floor(random() * CATEGORIES));
    const status = pick(STATUSES);
    yield status === undefined ? { name, categoryId } : { name, categoryId, status };
  }
}

/** Tommy Ettinger's generator: numbers from 0 to 1, the same ones for the same seed. Not for secrets. */
function mulberry32(randomSeed: number): () => number {
  let state = randomSeed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
