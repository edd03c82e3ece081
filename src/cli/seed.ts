import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import { inventPets } from './invented-pets.ts';
import { JSON_OPTION, wholeNumber } from './options.ts';
import { printJson, printLine } from './output.ts';
import { Progress } from './progress.ts';
import { withStore } from './with-store.ts';

const SEED_MAX = 2 ** 32 - 1;

interface SeedOptions {
  readonly randomSeed?: number;
  readonly json?: true;
}

export function seedCommand(program: Command): void {
  program
    .command('seed')
    .argument('<count>', 'how many', wholeNumber(1, 100_000_000))
    .description('add invented animals, for trying out and for benchmarks')
    .option('--random-seed <number>', 'the same number gives the same animals', wholeNumber(0, SEED_MAX))
    .option(...JSON_OPTION)
    .action(seed);
}

function seed(count: number, { randomSeed = randomInt(SEED_MAX), json }: SeedOptions): Promise<void> {
  return withStore(async ({ clock, store }) => {
    const progress = new Progress(process.stderr, clock);
    const pets = inventPets(count, randomSeed);
    const added = await store.archive.addAll(pets, { atomic: false, onProgress: progress.update });
    progress.clear();
    if (json) printJson({ added, randomSeed });
    else printLine(`added ${added} animals (--random-seed ${randomSeed} gives the same again)`);
  });
}
