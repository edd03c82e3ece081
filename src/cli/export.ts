import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import type { Pet } from '../domain/pet.ts';
import { petJson } from '../json.ts';
import { JSON_OPTION } from './options.ts';
import { printable } from './output.ts';
import { withStore } from './with-store.ts';

/** Text is written in pieces of about this many characters. */
const PIECE = 64 * 1024;

interface Format {
  readonly header: string;
  readonly line: (pet: Pet) => string;
  readonly separator: string;
  readonly end: string;
}

const FORMATS: Readonly<Record<'ndjson' | 'csv', Format>> = {
  ndjson: { header: '', line: (pet) => `${petJson(pet)}\n`, separator: '', end: '' },
  csv: { header: 'id,name,categoryId,status\n', line: csvLine, separator: '', end: '' },
};

/** One JSON value, for machines. */
const ARRAY: Format = { header: '[', line: (pet) => printable(petJson(pet)), separator: ',', end: ']\n' };

export function exportCommand(program: Command): void {
  program
    .command('export')
    .description('write every animal to standard output, oldest first, as of one instant')
    .addOption(
      new Option('--format <format>', 'of the output').choices(Object.keys(FORMATS)).default('ndjson'),
    )
    .addOption(new Option(...JSON_OPTION).conflicts('format'))
    .addHelpText('after', '\nExample:\n  petstore export > animals.ndjson')
    .action(exportPets);
}

function exportPets({ format, json }: { format: keyof typeof FORMATS; json?: true }): Promise<void> {
  return withStore(async ({ store }) => {
    const text = pieces(store.archive.readAll(), json ? ARRAY : FORMATS[format]);
    try {
      await pipeline(Readable.from(text), process.stdout, { end: false });
    } catch (error) {
      // A reader such as `head` has had enough.
      if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    }
  });
}

async function* pieces(pets: AsyncIterable<Pet>, format: Format): AsyncGenerator<string> {
  let piece = format.header;
  let separator = '';
  for await (const pet of pets) {
    piece += separator + format.line(pet);
    separator = format.separator;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece + format.end;
}

function csvLine({ id, name, categoryId, status }: Pet): string {
  return `${id},"${name.replaceAll('"', '""')}",${categoryId},${status ?? ''}\n`;
}
