import { type Command, Option } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import type { NewPet } from '../domain/pet.ts';
import { withNewStore } from './context.ts';
import { readLines } from './import/lines.ts';
import { addMapping, MAP_SYNTAX, type Mapping, neededColumns, newPetOf } from './import/mapping.ts';
import { jsonReport, textReport } from './import/report.ts';
import { csvRows, ndjsonRows } from './import/rows.ts';
import { type Format, FORMATS, openSource } from './import/source.ts';
import { JSON_OPTION, type JsonOption } from './options.ts';
import { Progress } from './progress.ts';

const EXAMPLES = `
The command refuses each row that holds no valid animal, with its line and the reason, and imports the others. With
--atomic, one refused row refuses the file. The id column and other columns are ignored. In CSV, an empty status is none.

Examples:
  petstore import animals.csv
  petstore export | DATABASE_URL=sqlite:copy.db petstore import -
  petstore import shelter.csv --map name=Name --map categoryId=Kind:Dog=1,Cat=2 \\
    --map status=Outcome:Adoption=sold,=available`;

interface ImportOptions extends JsonOption {
  readonly atomic?: boolean;
  readonly format?: Format;
  readonly map: Mapping;
}

export function importCommand(program: Command): void {
  program
    .command('import')
    .argument('<file>', 'CSV with a header line, or NDJSON; - for standard input')
    .description('add the animals of a file, and report the rows that are refused')
    .option('--atomic', 'all or nothing: any refused row refuses the file')
    .addOption(
      new Option('--format <format>', 'of the file; by its name and first bytes if not given').choices(
        FORMATS,
      ),
    )
    .addOption(
      new Option('--map <mapping>', `${MAP_SYNTAX}; at most once for each field`)
        .argParser(addMapping)
        .default(new Map(), 'the columns name, categoryId and status'),
    )
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action(importPets);
}

async function importPets(file: string, { atomic = false, format, map, json }: ImportOptions): Promise<void> {
  const source = await openSource(file, format);
  const lines = readLines(source.bytes);
  const rows = source.format === 'csv' ? await csvRows(lines, neededColumns(map)) : ndjsonRows(lines);
  await withNewStore(async ({ clock, store }) => {
    const progress = new Progress(process.stderr, clock);
    const report = json ? jsonReport(progress) : textReport(progress);
    let imported = 0;
    let refused = 0;
    const onProgress = (count: number) => {
      imported = count;
      progress.update(count);
    };
    async function* pets(): AsyncGenerator<NewPet> {
      for await (const row of rows) {
        const pet = 'fault' in row ? row : newPetOf(row, map);
        if ('fault' in pet) {
          refused++;
          await report.refuse(row.line, pet.fault);
          // After a refused row nothing will be imported. The others are still checked, to report every fault.
        } else if (!atomic || refused === 0) yield pet;
      }
      if (atomic && refused > 0) {
        throw new ServiceError('conflict', 'Nothing was imported: --atomic allows no refused row.');
      }
    }
    try {
      await store.archive.addAll(pets(), { atomic, onProgress });
    } catch (error) {
      if (atomic) imported = 0;
      throw error;
    } finally {
      await report.end(imported, refused);
    }
  });
}
