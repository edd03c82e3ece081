import { type Command, Option } from 'commander';
import type { Pet } from '../domain/pet.ts';
import { petJson } from '../json.ts';
import { JSON_OPTION } from './options.ts';
import { printable } from './output.ts';
import { withStore } from './with-store.ts';
import { type Wait, writePieces } from './write-pieces.ts';

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

const NOTES = `
It fails when nobody reads its output for 60 seconds, because the database cannot free old data while it runs.

Example:
  petstore export > animals.ndjson`;

interface ExportOptions {
  readonly format: keyof typeof FORMATS;
  readonly json?: true;
}

export function exportCommand(program: Command, wait: Wait): void {
  program
    .command('export')
    .description('write every animal to standard output, oldest first, as of one instant')
    .addOption(
      new Option('--format <format>', 'of the output').choices(Object.keys(FORMATS)).default('ndjson'),
    )
    .addOption(new Option(...JSON_OPTION).conflicts('format'))
    .addHelpText('after', NOTES)
    .action((options: ExportOptions) => exportPets(options, wait));
}

function exportPets({ format, json }: ExportOptions, wait: Wait): Promise<void> {
  return withStore(async ({ store }) => {
    const text = pieces(store.archive.readAll(), json ? ARRAY : FORMATS[format]);
    try {
      await writePieces(text, process.stdout, wait);
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
