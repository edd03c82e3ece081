import { statSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ServiceError } from '../domain/errors.ts';
import type { AccountRepository } from '../resources/accounts/repository.ts';
import type { NewPet } from '../resources/pets/schema.ts';
import { HOUSE } from '../resources/pets/table.ts';
import type { ImportOptions as PetImport, PetRepository } from '../resources/pets/repository.ts';
import { MISSING, type Missing } from '../resources/pets/rules.ts';
import { systemActor } from '../config/system-actor.ts';
import { addAudit } from '../resources/audit/repository.ts';
import { addReserved, type ReservedCategory } from '../resources/categories/repository.ts';
import { AuditedRun } from '../resources/audit/audited-run.ts';
import { type CategoryIds, committedIds, inventedIds, reservedIds, UsedCategories } from './category-ids.ts';
import { type ProgramTerminal, systemClock } from './context.ts';
import type { UnreadColumn } from './import/columns.ts';
import { addMapping, MAP_SYNTAX, type Mapping, mapsNames, readPet, wantedColumns } from './import/mapping.ts';
import { RefusedFile } from './import/refused-file.ts';
import { jsonReport, NOTHING, type ReadAs, type Report, textReport } from './import/report.ts';
import { type FindReferences, type ReadRow, refuseTaken } from './import/taken.ts';
import { csvTable, ndjsonTable, type Row } from './import/rows.ts';
import {
  type Encoding,
  ENCODINGS,
  type Format,
  FORMATS,
  openSource,
  type Source,
  spool,
} from './import/source.ts';
import { type Herd, keepInStep } from './import/step.ts';
import { onSignal } from './signals.ts';
import { requireValue } from '../terminal/command.ts';
import { JSON_OPTION, type JsonOption } from '../terminal/takers.ts';
import { RowsRefused } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';

const EXAMPLES = `
The command refuses each row that holds no valid animal, imports the others, and exits with status 3 if it refused rows.
It prints the first 20 refused rows with their lines, and how many rows each reason refused. With --atomic, one refused
row refuses the file, and on SQLite other programs wait with their changes until the import ends. The id column is
ignored. The report names other columns that are not read. Blank rows are skipped. In CSV, an empty cell is no value,
addresses of photos stand between blanks, and tags between semicolons: a tag with a semicolon stands in quotes.

The file may hold commas, semicolons or tabs, a line sep=;, a JSON array, line ends of any kind, UTF-8, UTF-16 or
Windows-1252: the report says what it was taken for. Case and blanks around the name of a column do not count.

--map lists the values of a column with their results, and other values refuse their row. *=RESULT is the result of all
other values, and * keeps them as they are. An empty or missing value is listed as =RESULT. A COLUMN, VALUE or RESULT
with one of : = , in it stands in double quotes, with the quotes in it doubled.

With --update, the column reference finds the animals of the same owner: those that differ are changed, and new ones
added. A column that the file lacks stays as it is, and an empty cell removes the value. While an order of an animal is
open, or after one was completed, its status stays. --missing sold and --missing delete change animals that are not in
the file, but not more than a fifth of them.

--map categoryId=COLUMN takes the names of categories from a column. Case does not count, and the command makes the
categories that are missing. A number in the column is used as an id. With =NAME,* rows without a category get this one.

Examples:
  petstore import animals.csv
  petstore import animals.csv --account shelter
  petstore import tonight.csv --account shelter --update --missing delete
  petstore import shelter.csv --map name=Name --map categoryId=AnimalType
  petstore import shelter.csv --map 'categoryId=Kind:=Unknown,*' \\
    --map 'status=Outcome:ADOPTION=sold,"SHELTER, NEUTER, RETURN"=sold,*='
  petstore export | DATABASE_URL=sqlite:copy.db petstore import -
  petstore import shelter.csv --dry-run --refused refused.csv --map 'name=Name:=Nameless,*' \\
    --map categoryId=Kind:Dog=1,Cat=2 --map 'status=Outcome:Adoption=sold,*=available'
The export of animals holds the numbers of their categories, and not the categories.`;

interface ImportOptions extends JsonOption {
  readonly atomic?: boolean;
  readonly dryRun?: boolean;
  readonly format?: Format;
  readonly delimiter?: string;
  readonly encoding?: Encoding;
  readonly map: Mapping;
  readonly account?: string;
  readonly refused?: string;
  readonly update?: boolean;
  readonly missing: Missing;
  readonly force?: boolean;
}

export function importCommand(program: Command, terminal: ProgramTerminal): void {
  program
    .command('import')
    .argument('<file>', 'CSV with a header line, NDJSON or a JSON array; - for standard input')
    .description('add the animals of a file, and report the rows that are refused')
    .option('--atomic', 'all or nothing: any refused row refuses the file')
    .option('--dry-run', 'report what would be imported and refused, and store nothing')
    .addOption(
      new Option('--format <format>', 'of the file; by its name and first bytes if not given').choices(
        FORMATS,
      ),
    )
    .addOption(
      new Option(
        '--delimiter <delimiter>',
        'of the fields of CSV: comma, semicolon, tab or one character; by the header if not given',
      ).argParser(readDelimiter),
    )
    .addOption(
      new Option('--encoding <encoding>', 'of the text; by what the file holds if not given').choices(
        ENCODINGS,
      ),
    )
    .addOption(
      new Option('--map <mapping>', `${MAP_SYNTAX}; at most once for each field`)
        .argParser(addMapping)
        .default(new Map(), 'the columns of the names of fields'),
    )
    .option('--account <name>', 'the account that gets the animals; by default they belong to the house')
    .addOption(
      new Option(
        '--update',
        'keep animals in step with the file: its column reference finds those that exist',
      ).conflicts('atomic'),
    )
    .addOption(
      new Option(
        '--missing <what>',
        'with --update: what becomes of animals of the same owner whose reference is not in the file',
      )
        .choices(MISSING)
        .default('keep'),
    )
    .option('--force', 'let --missing change more than a fifth of the animals')
    .option('--refused <file>', 'keep the refused rows in a new file, as they came')
    .option(...JSON_OPTION)
    .addHelpText('after', EXAMPLES)
    .action((file: string, options: ImportOptions) => importPets(terminal, file, options));
}

async function importPets(terminal: ProgramTerminal, file: string, options: ImportOptions): Promise<void> {
  if (!options.update && (options.missing !== 'keep' || options.force))
    throw new ServiceError('invalid_parameter', '--missing and --force need --update.');
  const stop = new AbortController();
  const removeHandler = onSignal((name) =>
    stop.abort(new ServiceError('unavailable', `The import was stopped by ${name}.`)),
  );
  const progress = new Progress(terminal.system.stderr, systemClock());
  const report = (options.json ? jsonReport : textReport)(terminal, progress, options.dryRun ?? false);
  try {
    await importFile(terminal, file, options, { progress, report, signal: stop.signal });
  } catch (error) {
    // What ended the import before its first row has printed nothing.
    await report.end(NOTHING).catch(() => undefined);
    throw error;
  } finally {
    removeHandler();
  }
}

/** Where an import tells how far it is, and what stops it. */
interface Reporting {
  readonly progress: Progress;
  readonly report: Report;
  readonly signal: AbortSignal;
}

async function importFile(
  terminal: ProgramTerminal,
  file: string,
  options: ImportOptions,
  reporting: Reporting,
): Promise<void> {
  const { system, withNewStore, withStoreIfAny, printError } = terminal;
  const { signal } = reporting;
  const isUpdate = options.update ?? false;
  // An update reads the file twice.
  const spooled = isUpdate && !isRegular(file) ? await spool(file, system, signal) : undefined;
  const open = () =>
    spooled === undefined
      ? openSource(file, options, system, signal)
      : openSource('-', options, spooled.open(), signal);
  let refusedFile: RefusedFile | undefined;
  try {
    const { header, rows, describe } = await openTable(open, file, options);
    refusedFile = options.refused === undefined ? undefined : new RefusedFile(options.refused, header);
    const importInto = (target: ImportTarget) =>
      importRows({ ...reporting, rows, describe }, options, refusedFile, target);
    const keepRows = async (target: Omit<Parameters<typeof keepInStep>[1], 'missing' | 'isForced'>) => {
      let readings = 0;
      let last = { rows, describe };
      await keepInStep(
        {
          ...reporting,
          open: async () => {
            if (readings++ > 0) last = await openTable(open, file, options);
            return last.rows;
          },
          mapping: options.map,
          now: systemClock()().unix,
          refusedFile,
          describe: () => last.describe(),
        },
        { ...target, missing: options.missing, isForced: options.force ?? false },
      );
    };
    if (!options.dryRun)
      await withNewStore(async ({ store: { accounts, pets, audit, categories }, actor }) => {
        const target = { kind: 'pets', name: file } as const;
        // First, because a mistyped name adds nothing.
        const accountId = await findAccountId(accounts, options.account);
        const ownerId = accountId ?? HOUSE;
        const run = new AuditedRun(audit, actor, 'import', target, accountId);
        if (isUpdate) {
          const beforeChange = () => run.start();
          await keepRows({
            ownerId,
            ids: committedIds(categories, actor, beforeChange),
            run,
            herd: {
              readReferenced: (owner) => pets.readReferenced(owner),
              keepInStep: (chunk) => pets.keepInStep(actor, ownerId, chunk, { isTrial: false, beforeChange }),
              leaveOut: (missing, action) => pets.leaveOut(actor, ownerId, missing, action),
            },
          });
          return;
        }
        const ids = options.atomic ? reservedIds(categories) : committedIds(categories, actor);
        const addAll: Importer = (added, settings) =>
          pets.addAll(added, {
            ...settings,
            ownerId,
            actor,
            async beforeCommit(transaction, animals) {
              await addReserved(transaction, actor, ids.made);
              const change = { action: 'import', target, accountId, after: { animals } };
              if (animals > 0) await addAudit(transaction, actor, change);
            },
          });
        const findReferences: FindReferences = (references) => pets.findReferences(ownerId, references);
        await importInto({ addAll, findReferences, ids, ...(!options.atomic && { run }) });
      });
    else
      await withStoreIfAny(async (store) => {
        const ownerId = (await findAccountId(store?.accounts, options.account)) ?? HOUSE;
        const ids = inventedIds(mapsNames(options.map) ? store?.categories : undefined);
        if (isUpdate) await keepRows({ ownerId, ids, herd: store && trialHerd(store.pets, ownerId) });
        else
          await importInto({
            addAll: countAnimals,
            ids,
            findReferences: async (references) =>
              (await store?.pets.findReferences(ownerId, references)) ?? new Set(),
          });
      });
  } finally {
    spooled?.close();
    const lack = refusedFile?.close();
    if (lack !== undefined) printError(`petstore: ${lack}`);
  }
}

/** Says what would become of animals, and changes nothing. */
function trialHerd(pets: PetRepository, ownerId: number): Herd {
  const beforeChange = async () => undefined;
  return {
    readReferenced: (owner) => pets.readReferenced(owner),
    keepInStep: (rows) => pets.keepInStep(systemActor(), ownerId, rows, { isTrial: true, beforeChange }),
  };
}

/** The rows of a file, with what the report says of them so far. */
async function openTable(open: () => Promise<Source>, file: string, options: ImportOptions) {
  const source = await open();
  const wanted = wantedColumns(options.map, options.update);
  const readAgain = isRegular(file) || options.update ? async () => (await open()).lines : undefined;
  const table =
    source.format === 'csv'
      ? await csvTable(source.lines, wanted, options.delimiter)
      : await ndjsonTable(source.lines, wanted, readAgain);
  const describe = () => ({
    readAs: {
      ...source.describe(),
      ...(table.delimiter !== undefined && { delimiter: table.delimiter }),
      blankRows: table.blankRows(),
    },
    ...(table.unread().length > 0 && { notRead: table.unread() }),
  });
  return { header: table.header, rows: table.rows, describe };
}

/** Undefined: the house. @throws ServiceError `not_found` */
async function findAccountId(
  accounts: AccountRepository | undefined,
  name: string | undefined,
): Promise<number | undefined> {
  if (name === undefined) return undefined;
  if (accounts === undefined) throw new ServiceError('not_found', `There is no account ${name}.`);
  return requireValue(await accounts.find(name)).id;
}

type Importer = (
  animals: AsyncIterable<NewPet>,
  settings: Pick<PetImport, 'atomic' | 'onProgress'>,
) => Promise<number>;

/** The rows of a file, and what is known of it so far. */
interface Input extends Reporting {
  readonly rows: AsyncIterable<Row>;
  readonly describe: () => { readonly readAs: ReadAs; readonly notRead?: readonly UnreadColumn[] };
}

/** Where the animals go. `run`: how the audit log shows an import that is not atomic. */
interface ImportTarget {
  readonly addAll: Importer;
  readonly ids: CategoryIds;
  readonly findReferences: FindReferences;
  readonly run?: AuditedRun;
}

async function importRows(
  { rows, describe, progress, report, signal }: Input,
  { atomic = false, dryRun = false, map }: ImportOptions,
  refusedFile: RefusedFile | undefined,
  { addAll, ids, findReferences, run }: ImportTarget,
): Promise<void> {
  const now = systemClock()().unix;
  let valid = 0;
  let imported = 0;
  let refused = 0;
  let made: readonly ReservedCategory[] = ids.made;
  const used = new UsedCategories();
  /** The lines of the rows that were given and are not committed yet: those of one chunk. */
  let open: number[] = [];
  /** The line of the next row to read. Undefined before the first row and at the end of the file. */
  let next: number | undefined;
  const onProgress = (count: number) => {
    open = open.slice(count - imported);
    imported = count;
    progress.update(count);
  };
  async function* readRows(): AsyncGenerator<ReadRow> {
    for await (const row of rows) {
      signal.throwIfAborted();
      yield {
        lines: row.lines,
        read: 'issue' in row ? { issues: [row.issue] } : readPet(row, map, now),
      };
    }
  }
  async function* pets(): AsyncGenerator<NewPet> {
    for await (const { lines, read } of refuseTaken(readRows(), findReferences)) {
      const line = lines[0]?.number ?? 0;
      next = line;
      signal.throwIfAborted();
      next += lines.length;
      if ('issues' in read) {
        refused++;
        refusedFile?.add(lines);
        await report.refuse(line, read.issues);
        continue;
      }
      valid++;
      // After a refused row nothing will be imported. The others are still checked, to report every issue.
      if (atomic && refused > 0) continue;
      await run?.start();
      const { pet, category } = read;
      if (category === undefined) used.count(pet.categoryId);
      if (!atomic) open.push(line);
      yield category === undefined ? pet : { ...pet, categoryId: await ids.idOf(category) };
    }
    next = undefined;
    if (refused === 0 && valid === 0)
      throw new ServiceError(
        'conflict',
        `Nothing ${dryRun ? 'would be' : 'was'} imported: the file holds no row.`,
      );
    if (refused > 0 && (atomic || valid === 0)) {
      const why = valid === 0 ? 'every row is refused' : '--atomic allows no refused row';
      throw new ServiceError('conflict', `Nothing ${dryRun ? 'would be' : 'was'} imported: ${why}.`);
    }
  }
  const end = async () => {
    const uncategorized = imported === 0 ? 0 : await used.countMissing(ids);
    await report.end({
      imported,
      refused,
      categories: made.map(({ name }) => name),
      ...describe(),
      uncategorized,
      stoppedAt: atomic ? undefined : (open[0] ?? next),
    });
    await run?.end({ animals: imported, refused });
  };
  try {
    await addAll(pets(), { atomic, onProgress });
  } catch (error) {
    if (atomic) {
      imported = 0;
      made = [];
    }
    // What ended the import, such as a lost database, may also end what comes after it.
    await end().catch(() => undefined);
    throw error;
  }
  await end();
  if (refused > 0) throw new RowsRefused();
}

function isRegular(file: string): boolean {
  return file !== '-' && statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

const DELIMITER_NAMES: Readonly<Record<string, string>> = { comma: ',', semicolon: ';', tab: '\t' };

function readDelimiter(text: string): string {
  const delimiter = DELIMITER_NAMES[text] ?? text;
  if (delimiter.length !== 1 || /["\r\n]/.test(delimiter))
    throw new InvalidArgumentError(
      'It must be comma, semicolon, tab or one character, and no quote or line end.',
    );
  return delimiter;
}

/** Takes all animals and stores none. */
const countAnimals: Importer = async (animals, { onProgress }) => {
  let count = 0;
  for await (const _ of animals) onProgress?.(++count);
  return count;
};
