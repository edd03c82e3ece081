import { type Command, Option } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import type { NewPet } from '../resources/pets/schema.ts';
import type { ImportOptions as PetImport, PetRepository } from '../resources/pets/repository.ts';
import type { ReservedCategory } from '../resources/categories/repository.ts';
import { AuditedRun } from './audited-run.ts';
import { type CategoryIds, committedIds, inventedIds, reservedIds } from './category-ids.ts';
import { type ProgramTerminal, systemClock } from './context.ts';
import { readLines } from './import/lines.ts';
import { addMapping, MAP_SYNTAX, type Mapping, mapsNames, neededColumns, readPet } from './import/mapping.ts';
import { RefusedFile } from './import/refused-file.ts';
import { jsonReport, textReport } from './import/report.ts';
import { csvTable, ndjsonTable, type Row } from './import/rows.ts';
import { type Format, FORMATS, openSource } from './import/source.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/options.ts';
import { RowsRefused } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';

const EXAMPLES = `
The command refuses each row that holds no valid animal, imports the others, and exits with status 3 if it refused rows.
It prints the first 20 refused rows with their lines, and how many rows each reason refused. With --atomic, one refused
row refuses the file. The id column and other columns are ignored. In CSV, an empty status is none.

--map lists the values of a column with their results, and other values refuse their row. *=RESULT is the result of all
other values, and * keeps them as they are. An empty or missing value is listed as =RESULT.

--map categoryId=COLUMN takes the names of categories from a column. Case does not count, and the command makes the
categories that are missing. A number in the column is used as an id.

Examples:
  petstore import animals.csv
  petstore import shelter.csv --map name=Name --map categoryId=AnimalType
  petstore export | DATABASE_URL=sqlite:copy.db petstore import -
  petstore import shelter.csv --dry-run --refused refused.csv --map 'name=Name:=Nameless,*' \\
    --map categoryId=Kind:Dog=1,Cat=2 --map 'status=Outcome:Adoption=sold,*=available'`;

interface ImportOptions extends JsonOption {
  readonly atomic?: boolean;
  readonly dryRun?: boolean;
  readonly format?: Format;
  readonly map: Mapping;
  readonly refused?: string;
}

export function importCommand(program: Command, terminal: ProgramTerminal): void {
  program
    .command('import')
    .argument('<file>', 'CSV with a header line, or NDJSON; - for standard input')
    .description('add the animals of a file, and report the rows that are refused')
    .option('--atomic', 'all or nothing: any refused row refuses the file')
    .option('--dry-run', 'report what would be imported and refused, and store nothing')
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
    .option('--refused <file>', 'keep the refused rows in a new file, as they came')
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: ImportOptions) => importPets(terminal, file, options));
}

async function importPets(terminal: ProgramTerminal, file: string, options: ImportOptions): Promise<void> {
  const { system, withNewStore, withStoreIfAny, printError } = terminal;
  const { bytes, format } = await openSource(file, options.format, system);
  const lines = readLines(bytes);
  const { header, rows } =
    format === 'csv' ? await csvTable(lines, neededColumns(options.map)) : ndjsonTable(lines);
  const refusedFile = options.refused === undefined ? undefined : new RefusedFile(options.refused, header);
  try {
    const importInto = (archive: Importer, ids: CategoryIds, audited: Audited = {}) =>
      importRows(terminal, rows, options, refusedFile, { archive, ids, ...audited });
    if (!options.dryRun)
      await withNewStore(({ store: { pets, audit, categories }, actor }) => {
        const target = { kind: 'pets', name: file } as const;
        const changeOf = (animals: number) => ({ action: 'import', target, after: { animals } });
        return options.atomic
          ? importInto(pets, reservedIds(categories), { entry: { actor, changeOf } })
          : importInto(pets, committedIds(categories, actor), {
              run: new AuditedRun(audit, actor, 'import', target),
            });
      });
    else if (!mapsNames(options.map)) await importInto(NOWHERE, inventedIds(undefined));
    else await withStoreIfAny((store) => importInto(NOWHERE, inventedIds(store?.categories)));
  } finally {
    const lack = refusedFile?.close();
    if (lack !== undefined) printError(`petstore: ${lack}`);
  }
}

type Importer = Pick<PetRepository, 'addAll'>;

/** How the audit log shows an import: `entry` if it is atomic, else `run`. */
interface Audited {
  readonly entry?: NonNullable<PetImport['entry']>;
  readonly run?: AuditedRun;
}

async function importRows(
  terminal: ProgramTerminal,
  rows: AsyncIterable<Row>,
  { atomic = false, dryRun = false, json, map }: ImportOptions,
  refusedFile: RefusedFile | undefined,
  { archive, ids, entry, run }: Audited & { readonly archive: Importer; readonly ids: CategoryIds },
): Promise<void> {
  const progress = new Progress(terminal.system.stderr, systemClock());
  const report = (json ? jsonReport : textReport)(terminal, progress, dryRun);
  let valid = 0;
  let imported = 0;
  let refused = 0;
  let made: readonly ReservedCategory[] = ids.made;
  const onProgress = (count: number) => {
    imported = count;
    progress.update(count);
  };
  async function* pets(): AsyncGenerator<NewPet> {
    for await (const row of rows) {
      const read = 'fault' in row ? { faults: [row.fault] } : readPet(row, map);
      if ('faults' in read) {
        refused++;
        refusedFile?.add(row.lines);
        await report.refuse(row.lines[0]?.number ?? 0, read.faults);
        continue;
      }
      valid++;
      // After a refused row nothing will be imported. The others are still checked, to report every fault.
      if (atomic && refused > 0) continue;
      await run?.start();
      const { pet, category } = read;
      yield category === undefined ? pet : { ...pet, categoryId: await ids.idOf(category) };
    }
    if (refused > 0 && (atomic || valid === 0)) {
      const why = valid === 0 ? 'every row is refused' : '--atomic allows no refused row';
      throw new ServiceError('conflict', `Nothing ${dryRun ? 'would be' : 'was'} imported: ${why}.`);
    }
  }
  try {
    await archive.addAll(pets(), { atomic, onProgress, categories: ids.made, ...(entry && { entry }) });
  } catch (error) {
    if (atomic) {
      imported = 0;
      made = [];
    }
    throw error;
  } finally {
    await report.end({ imported, refused, categories: made.map(({ name }) => name) });
    await run?.end({ animals: imported, refused });
  }
  if (refused > 0) throw new RowsRefused();
}

/** Takes all animals and stores none. */
const NOWHERE: Importer = {
  async addAll(pets, { onProgress }) {
    let count = 0;
    for await (const _ of pets) onProgress?.(++count);
    return count;
  },
};
