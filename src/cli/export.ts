import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import type { Pet } from '../domain/pet.ts';
import { petJson } from '../json.ts';
import { withStore } from './with-store.ts';

/** Text is written in pieces of about this many characters. */
const PIECE = 64 * 1024;

interface Format {
  readonly header: string;
  readonly line: (pet: Pet) => string;
}

const FORMATS: Readonly<Record<'ndjson' | 'csv', Format>> = {
  ndjson: { header: '', line: (pet) => `${petJson(pet)}\n` },
  csv: { header: 'id,name,categoryId,status\n', line: csvLine },
};

export function exportCommand(program: Command): void {
  program
    .command('export')
    .description('write every animal to standard output, oldest first, as of one instant')
    .addOption(
      new Option('--format <format>', 'of the output').choices(Object.keys(FORMATS)).default('ndjson'),
    )
    .addHelpText('after', '\nExample:\n  petstore export > animals.ndjson')
    .action(exportPets);
}

function exportPets({ format }: { format: keyof typeof FORMATS }): Promise<void> {
  return withStore(async ({ store }) => {
    const text = pieces(store.archive.readAll(), FORMATS[format]);
    try {
      await pipeline(Readable.from(text), process.stdout, { end: false });
    } catch (error) {
      // A reader such as `head` has had enough.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

async function* pieces(pets: AsyncIterable<Pet>, { header, line }: Format): AsyncGenerator<string> {
  let piece = header;
  for await (const pet of pets) {
    piece += line(pet);
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function csvLine({ id, name, categoryId, status }: Pet): string {
  return `${id},"${name.replaceAll('"', '""')}",${categoryId},${status ?? ''}\n`;
}
