import { type Command, Option } from 'commander';
import { PetStoreError } from '../domain/errors.ts';
import type { NewPet } from '../domain/pet.ts';
import { csvRows } from './import/csv.ts';
import { readLines } from './import/lines.ts';
import { addMapping, MAP_SYNTAX, type Mapping, neededColumns, petOf } from './import/mapping.ts';
import { ndjsonRows } from './import/ndjson.ts';
import { type Report, reportForMachines, reportForPeople } from './import/report.ts';
import type { Row } from './import/row.ts';
import { type Format, FORMATS, openSource } from './import/source.ts';
import { JSON_OPTION } from './options.ts';
import { Progress } from './progress.ts';
import { withStore } from './with-store.ts';

const EXAMPLES = `
Rows that hold no valid animal are refused, by line and reason; the others are imported, unless --atomic is given.
An id column and columns that are not asked for are ignored. In CSV an empty status is none.

Examples:
  petstore import animals.csv
  petstore export | DATABASE_URL=sqlite:copy.db petstore import -
  petstore import shelter.csv --map name=Name --map categoryId=Kind:Dog=1,Cat=2 \\
    --map status=Outcome:Adoption=sold,=available`;

interface ImportOptions {
  readonly atomic?: boolean;
  readonly format?: Format;
  readonly map: Mapping;
  readonly json?: true;
}

export function importCommand(program: Command): void {
  program
    .command('import')
    .argument('<file>', 'CSV with a header line, or NDJSON; - for standard input')
    .description('add the animals of a file, and report the rows that are refused')
    .option('--atomic', 'all or nothing: any refused row refuses the file')
    .addOption(new Option('--format <format>', 'of the file, if its name does not tell').choices(FORMATS))
    .addOption(
      new Option('--map <mapping>', `${MAP_SYNTAX}; for each field at most once`)
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
  await withStore(async ({ clock, store }) => {
    const progress = new Progress(process.stderr, clock);
    const intake = new Intake(json ? reportForMachines(progress) : reportForPeople(progress), map, atomic);
    let imported = 0;
    const onProgress = (count: number) => {
      imported = count;
      progress.update(count);
    };
    try {
      await store.archive.addAll(intake.pets(rows), { atomic, onProgress });
    } catch (error) {
      if (atomic) imported = 0;
      throw error;
    } finally {
      await intake.report.end(imported, intake.refused);
    }
  });
}

/** Takes in the animals of rows and turns the others away. */
class Intake {
  readonly report: Report;
  refused = 0;
  readonly #mapping: Mapping;
  readonly #atomic: boolean;

  constructor(report: Report, mapping: Mapping, atomic: boolean) {
    this.report = report;
    this.#mapping = mapping;
    this.#atomic = atomic;
  }

  /** @throws PetStoreError at the end when a row was refused and the file is to be imported whole. */
  async *pets(rows: AsyncIterable<Row>): AsyncGenerator<NewPet> {
    for await (const row of rows) {
      const pet = await this.#admit(row);
      // Once a row is refused nothing will be imported; the others are still looked at, to report them all.
      if (pet !== undefined && !(this.#atomic && this.refused > 0)) yield pet;
    }
    if (this.#atomic && this.refused > 0) {
      throw new PetStoreError('conflict', 'Nothing was imported: --atomic allows no refused row.');
    }
  }

  async #admit(row: Row): Promise<NewPet | undefined> {
    if ('fault' in row) return await this.#refuse(row.line, row.fault);
    try {
      return petOf(row, this.#mapping);
    } catch (error) {
      if (!(error instanceof PetStoreError)) throw error;
      return await this.#refuse(row.line, error.message);
    }
  }

  async #refuse(line: number, reason: string): Promise<undefined> {
    this.refused++;
    await this.report.refuse(line, reason);
  }
}
